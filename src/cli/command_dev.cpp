// `ebb dev`: runs workflows while their files are being edited.

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>

#include <fmt/format.h>

#include "cli/failure_text.h"
#include "cli/fill.h"
#include "cli/instance_ref.h"
#include "cli/payload_argument.h"
#include "cli/progress_display.h"
#include "cli/project_commands.h"
#include "cli/report.h"
#include "cli/serving.h"
#include "cli/text.h"
#include "store/store.h"
#include "store/stored_definition.h"
#include "support/sync.h"

namespace ebb::cli {

namespace {

using Color = Style::Color;

constexpr Duration kLook = std::chrono::milliseconds(250);
constexpr Duration kDrain = std::chrono::seconds(2);
constexpr const char* kFolder = ".ebb";
constexpr const char* kDevStore = ".ebb/dev.db";
constexpr int kOutputMax = 100;

/// What changes when a file is saved.
struct Stamp {
    std::filesystem::file_time_type time{};
    std::uintmax_t size = 0;

    bool operator==(const Stamp&) const = default;
};

Stamp stamp_of(const std::string& path) {
    std::error_code error;
    Stamp stamp;
    stamp.time = std::filesystem::last_write_time(path, error);
    if (!error) stamp.size = std::filesystem::file_size(path, error);
    return error ? Stamp{} : stamp;
}

void make_folder() {
    std::filesystem::create_directories(kFolder);
    const std::string ignore = fmt::format("{}/.gitignore", kFolder);
    if (!std::filesystem::exists(ignore)) std::ofstream(ignore) << "*\n";
}

class Dev {
 public:
    Dev(Session& session, const DevOptions& options)
        : session_(session),
          options_(options),
          display_(session.streams().err, session.err()),
          policy_(session, {}, true) {
        make_folder();
        store_ = session.streams().open_store(kDevStore, OpenMode::MayCreate);
        // Standard input can be read only once.
        if (options.input == "-") input_ = read_payload("-", "--input", session.streams());
    }

    int go() {
        const auto caught = session_.streams().catch_signals(interrupts_);
        const std::string hint = fmt::format("The store is {}. Ctrl-C ends.", kDevStore);
        say(session_.err().dim(hint));
        while (interrupts_.count() == 0) {
            const Stamps stamps = read_stamps();
            const std::vector<std::string> changed = load();
            serve(changed, stamps);
        }
        return kOk;
    }

 private:
    using Stamps = std::map<std::string, Stamp>;

    struct News {
        InstanceSummary summary;
        HistoryEntry event;
    };

    void say(const std::string& text) {
        display_.add(text);
        display_.finish();
    }

    void say_error(const std::string& text) { say(session_.err().paint(Color::Red, text)); }

    Stamps read_stamps() const {
        Stamps stamps;
        for (const std::string& path : options_.files) stamps[path] = stamp_of(path);
        for (const std::string& path : session_.options().types) stamps[path] = stamp_of(path);
        return stamps;
    }

    /// Reads all files again. Returns the names of the workflows that have changed. A file with
    /// problems stays as it was before.
    std::vector<std::string> load() {
        std::vector<std::string> changed;
        for (const std::string& path : options_.files) {
            try {
                DefinitionFile file = read_definition_file(path, session_);
                if (file.problems.empty()) {
                    if (take(file)) changed.push_back(file.definition.name);
                    files_.insert_or_assign(path, std::move(file));
                } else {
                    show_problems(file);
                }
            } catch (const InvalidDefinitionFile& invalid) {
                show_problems(invalid.file);
            } catch (const Error& error) {
                // An editor may be replacing the file at this moment.
                say_error(one_line(error.what()));
            }
        }
        return changed;
    }

    void show_problems(const DefinitionFile& file) {
        std::string text;
        for (const Diagnostic& problem : file.problems) {
            text += diagnostic_text(file, problem, session_.err());
        }
        text += files_.contains(file.path) ? "The version before this change still runs."
                                           : "The file is read again when you save it.";
        say(fill(text, session_.streams().err));
    }

    /// Gives the definition its version in this store. Whether it is another one than before.
    bool take(DefinitionFile& file) {
        Definition& definition = file.definition;
        const bool is_first = !files_.contains(file.path);
        const auto newest = store_->find_workflow(definition.name, std::nullopt);
        bool is_new = true;
        if (newest) {
            const Definition known = stored_definition(*newest);
            definition.version = known.version;
            is_new = !(known == definition);
            if (is_new) ++definition.version;
        }
        if (!is_new && !is_first) return false;
        say(fmt::format(
            "{}  {}",
            session_.err().bold(fmt::format("{} v{}", definition.name, definition.version)),
            session_.err().dim(is_first ? file.path : file.path + " has changed")
        ));
        return true;
    }

    /// Runs what is due until a file changes or Ctrl-C is pressed.
    void serve(const std::vector<std::string>& changed, const Stamps& stamps) {
        if (files_.empty()) {
            await_change(stamps, [] {});
            return;
        }
        std::vector<DefinitionFile> files;
        for (const auto& [path, file] : files_) files.push_back(file);
        const ServedWorkflows served = served_workflows(*store_, files);
        const HandlerRegistry handlers = handlers_of(*store_, served.all, files, policy_);
        Engine engine(*store_, handlers, {.threads = options_.threads});
        engine.add_observer(
            make_observer([this](const InstanceSummary& summary, const auto& events) {
                const Lock lock(mutex_);
                for (const HistoryEntry& event : events) news_.push_back({summary, event});
                interrupts_.notify();
            })
        );
        for (const DefinitionFile& file : files) {
            engine.register_workflow(file.definition);
            tell_unserved(file.definition, handlers);
        }
        engine.run();
        for (const std::string& name : changed) start(engine, name);
        await_change(stamps, [&] { print_news(engine); });
        engine.drain(kDrain);
        print_news(engine);
    }

    /// Steps that would wait without a word.
    void tell_unserved(const Definition& definition, const HandlerRegistry& handlers) {
        std::vector<std::string> missing = missing_handlers(definition, handlers);
        for (const WorkerRow& worker : store_->workers()) {
            if (worker.expires_at <= session_.now()) continue;
            std::erase_if(missing, [&](const std::string& name) {
                const auto& names = worker.handlers;
                return std::find(names.begin(), names.end(), name) != names.end();
            });
        }
        for (const std::string& handler : missing) {
            if (!told_.insert(handler).second) continue;
            const std::string text = fmt::format(
                "Nothing here runs the handler \"{}\": a step that calls it waits for a worker "
                "that "
                "has it, such as your program with the store {}.",
                one_line(handler),
                kDevStore
            );
            say(fill(session_.err().paint(Color::Yellow, text), session_.streams().err));
        }
    }

    void start(Engine& engine, const std::string& name) {
        if (options_.input.empty()) {
            say(session_.err().dim(
                fmt::format("Start an instance: ebb start {} -i JSON --db {}", name, kDevStore)
            ));
            return;
        }
        try {
            const Payload input =
                input_ ? *input_ : read_payload(options_.input, "--input", session_.streams());
            engine.start(name, input, {.by = session_.by("")});
        } catch (const Error& error) {
            say_error(one_line(error.what()));
        }
    }

    template <typename Meanwhile>
    void await_change(const Stamps& stamps, Meanwhile meanwhile) {
        while (interrupts_.count() == 0 && read_stamps() == stamps) {
            interrupts_.wait(kLook);
            meanwhile();
        }
    }

    void print_news(Engine& engine) {
        std::vector<News> news;
        {
            const Lock lock(mutex_);
            news.swap(news_);
        }
        for (const auto& [summary, event] : news) print(engine, summary, event);
        display_.finish();
    }

    void print(Engine& engine, const InstanceSummary& summary, const HistoryEntry& event) {
        auto found = progress_.find(summary.id);
        if (found == progress_.end()) {
            const auto definition = engine.definition(summary.workflow, summary.version);
            found = progress_.emplace(summary.id, Progress(index_nodes(*definition))).first;
        }
        const Style& style = session_.err();
        const std::string id = style.dim(short_id(summary.id));
        if (event.type == "started") {
            const std::string what = fmt::format("{} v{}", summary.workflow, summary.version);
            display_.add(fmt::format("{}  {} started", id, style.bold(what)));
        }
        if (const auto line = found->second.read(event)) {
            display_.add(fmt::format("{}{}", id, display_.text_of(*line)));
        }
        if (!found->second.is_finished()) return;
        progress_.erase(found);
        const InstanceView view = engine.show(summary.id);
        std::string end = fmt::format("{}  {}", id, style.signed_status(event.type));
        if (!view.output.empty()) {
            const std::string output =
                payload_text(view.output, kOutputMax, style.glyphs().ellipsis);
            end += "  " + style.dim(output);
        }
        display_.add(end);
    }

    Session& session_;
    const DevOptions& options_;
    ProgressDisplay display_;
    ExecPolicy policy_;
    Interrupts interrupts_;
    StorePtr store_;
    std::optional<Payload> input_;
    std::map<std::string, DefinitionFile> files_;
    std::map<InstanceId, Progress> progress_;
    std::set<std::string> told_;  ///< handlers that nothing here runs
    Mutex mutex_;
    std::vector<News> news_ EBB_GUARDED_BY(mutex_);
};

}  // namespace

int develop(Session& session, const DevOptions& options) {
    for (const std::string& path : options.files) {
        if (path != "-") continue;
        throw Error(
            ErrorCode::InvalidArgument, "`ebb dev` watches files; standard input is not a file."
        );
    }
    for (const std::string& path : options.files) {
        if (std::filesystem::exists(path)) continue;
        throw_missing(path, "`ebb init --yaml` writes a first workflow.");
    }
    if (!session.db_option().empty()) {
        throw Error(
            ErrorCode::InvalidArgument,
            fmt::format(
                "`ebb dev` has its own store ({}), in which it assigns the versions. Leave --db "
                "out, or use `ebb worker`.",
                kDevStore
            )
        );
    }
    return Dev(session, options).go();
}

}  // namespace ebb::cli
