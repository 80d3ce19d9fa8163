// `ebb dev`: runs workflows while their files are being edited.

#include <filesystem>
#include <map>
#include <mutex>

#include <fmt/format.h>

#include "cli/commands.h"
#include "cli/failure_text.h"
#include "cli/instance_ref.h"
#include "cli/payload_argument.h"
#include "cli/progress_display.h"
#include "cli/report.h"
#include "cli/serving.h"
#include "cli/text.h"
#include "store/store.h"
#include "support/sync.h"

namespace ebb::cli {

namespace {

using Color = Style::Color;

constexpr Duration kLook = std::chrono::milliseconds(250);
constexpr Duration kDrain = std::chrono::seconds(2);
constexpr const char* kFolder = ".ebb";
constexpr const char* kStore = ".ebb/dev.db";

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

class Dev {
 public:
    Dev(Session& session, const DevOptions& options)
        : session_(session), options_(options), display_(session.streams().err, session.err()) {
        std::filesystem::create_directories(kFolder);
        store_ = session.streams().open_store(kStore, OpenMode::MayCreate);
    }

    int go() {
        const auto caught = session_.streams().catch_signals(interrupts_);
        say(session_.err().dim(
            fmt::format("Store {}; look into it with --db {}. Ctrl-C ends.", kStore, kStore)
        ));
        while (interrupts_.count() == 0) {
            const auto stamps = read_stamps();
            const std::vector<std::string> changed = load();
            serve(changed, stamps);
        }
        return kOk;
    }

 private:
    using Stamps = std::map<std::string, Stamp>;

    void say(const std::string& text) {
        display_.add(text);
        display_.finish();
    }

    Stamps read_stamps() const {
        Stamps stamps;
        for (const std::string& path : options_.files) stamps[path] = stamp_of(path);
        for (const std::string& path : session_.options().types) stamps[path] = stamp_of(path);
        return stamps;
    }

    /// Reads all files again, and registers what has changed as the next version. Returns the
    /// names of those workflows. A file with problems stays as it was before.
    std::vector<std::string> load() {
        std::vector<std::string> changed;
        for (const std::string& path : options_.files) {
            try {
                DefinitionFile file = read_definition_file(path, session_);
                if (!file.problems.empty()) {
                    tell_problems(file);
                } else if (take(file)) {
                    changed.push_back(file.definition.name);
                    const std::string name = file.definition.name;
                    say(fmt::format(
                        "{} {}",
                        session_.err().bold(name),
                        session_.err().dim(fmt::format("version {} of this store", file.definition.version))
                    ));
                    files_.insert_or_assign(path, std::move(file));
                } else {
                    files_.insert_or_assign(path, std::move(file));
                }
            } catch (const InvalidDefinitionFile& invalid) {
                tell_problems(invalid.file);
            } catch (const Error& error) {
                // An editor may just be replacing the file.
                say(session_.err().paint(Color::Red, one_line(error.what())));
            }
        }
        return changed;
    }

    void tell_problems(const DefinitionFile& file) {
        std::string text;
        for (const Diagnostic& problem : file.problems) {
            text += diagnostic_text(file, problem, session_.err());
        }
        if (!text.empty()) text.pop_back();
        say(text);
    }

    /// Gives the definition its version in this store. Whether it is a new one.
    bool take(DefinitionFile& file) {
        const auto newest = store_->find_workflow(file.definition.name, std::nullopt);
        const bool is_first = !files_.contains(file.path);
        if (newest) {
            Definition known = parse_definition_json(newest->definition);
            file.definition.version = known.version;
            if (known == file.definition) return is_first;
            ++file.definition.version;
        }
        return true;
    }

    /// Runs what there is until a file changes, or Ctrl-C.
    void serve(const std::vector<std::string>& changed, const Stamps& stamps) {
        std::vector<DefinitionFile> files;
        for (const auto& [path, file] : files_) files.push_back(file);
        if (files.empty()) return await_change(stamps);
        const std::vector<Served> served = served_workflows(*store_, files);
        const HandlerRegistry handlers = handlers_of(*store_, served, files);
        Engine engine(*store_, handlers, {.threads = options_.threads});
        engine.set_observer([this](const InstanceSummary& summary, const auto& events) {
            const Lock lock(mutex_);
            for (const HistoryEntry& event : events) news_.emplace_back(summary, event);
            interrupts_.notify();
        });
        for (const DefinitionFile& file : files) engine.register_workflow(file.definition);
        engine.run();
        if (!options_.input.empty()) {
            const Payload input = read_payload(options_.input, "--input", session_.streams());
            for (const std::string& name : changed) {
                engine.start(name, input, {.by = session_.by("")});
            }
        }
        while (interrupts_.count() == 0 && read_stamps() == stamps) {
            interrupts_.wait(kLook);
            print_news(engine);
        }
        engine.drain(kDrain);
        print_news(engine);
    }

    void await_change(const Stamps& stamps) {
        while (interrupts_.count() == 0 && read_stamps() == stamps) interrupts_.wait(kLook);
    }

    void print_news(Engine& engine) {
        std::vector<std::pair<InstanceSummary, HistoryEntry>> news;
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
            display_.add(fmt::format("{} {} starts", id, style.bold(summary.workflow)));
        }
        if (const auto line = found->second.read(event)) {
            display_.add(fmt::format("{} {}", id, display_.text_of(*line)));
        }
        if (!found->second.is_finished()) return;
        const bool has_output = event.type == "completed" && !event.payload.empty();
        display_.add(fmt::format(
            "{} {}  {}",
            id,
            style.signed_status(event.type),
            style.dim(has_output ? payload_text(event.payload, 100, style.glyphs().ellipsis) : "")
        ));
        progress_.erase(found);
    }

    Session& session_;
    const DevOptions& options_;
    ProgressDisplay display_;
    Interrupts interrupts_;
    StorePtr store_;
    std::map<std::string, DefinitionFile> files_;
    std::map<InstanceId, Progress> progress_;
    Mutex mutex_;
    std::vector<std::pair<InstanceSummary, HistoryEntry>> news_ EBB_GUARDED_BY(mutex_);
};

}  // namespace

int develop(Session& session, const DevOptions& options) {
    if (!session.options().db.empty() && !session.db_option().empty()) {
        throw Error(
            ErrorCode::InvalidArgument,
            fmt::format(
                "`ebb dev` has a store of its own ({}), in which it gives versions by itself; leave "
                "--db out, or use `ebb worker`.",
                kStore
            )
        );
    }
    return Dev(session, options).go();
}

}  // namespace ebb::cli
