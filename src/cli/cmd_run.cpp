#include <array>
#include <atomic>
#include <thread>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/progress.h"
#include "cli/signals.h"
#include "store/store.h"
#include "support/json.h"

namespace ebb::cli {

namespace {

constexpr Duration kPatience = std::chrono::milliseconds(100);

class Run {
 public:
    Run(Context& context, const RunOptions& options)
        : context_(context),
          options_(options),
          workflow_(load_workflow(options.file)),
          is_durable_(!context.options.database.empty() && context.options.database != "memory:"),
          store_(open_store(is_durable_ ? context.options.database : "memory:")),
          progress_(
              context.terminal, options.is_quiet ? Progress::Format::None : Progress::Format::Lines
          ) {
        add_handlers(handlers_, {workflow_});
        EngineOptions engine_options;
        engine_options.threads = options.threads;
        engine_ = std::make_unique<Engine>(*store_, handlers_, engine_options);
        engine_->register_workflow(workflow_.definition);
        engine_->set_observer(
            [this](const InstanceSummary& instance, std::span<const HistoryEntry> events) {
                if (instance.id == id_ || id_ == InstanceId{}) progress_.observe(instance, events);
            }
        );
    }

    int run() {
        const SignalCounter signals;
        begin();
        engine_->run();
        const Result result = follow(signals);
        progress_.print(false);
        context_.terminal.clear_status();
        if (!result.is_finished && signals.count() > 0) return interrupted();
        engine_->drain(std::chrono::seconds(5));
        return tell(result);
    }

 private:
    void begin() {
        if (!options_.resume.empty()) {
            id_ = resolve_instance(*engine_, options_.resume);
            return;
        }
        const Payload input = read_payload_argument(options_.input, "input");
        id_ = engine_
                  ->start(
                      workflow_.definition.name,
                      input,
                      {.version = workflow_.definition.version, .key = options_.key}
                  )
                  .id;
        if (is_durable_ && !options_.is_quiet && !context_.options.json) {
            context_.terminal.err(fmt::format("{} {}\n", workflow_.definition.name, id_.to_string())
            );
        }
    }

    Result follow(const SignalCounter& signals) {
        Duration left = timeout_of(options_.timeout);
        bool was_cancelled = false;
        for (int frame = 0;; ++frame) {
            const Duration slice = std::min(left, kPatience);
            Result result = engine_->wait(id_, slice);
            progress_.print(false);
            if (result.is_finished || result.status == "dead_letter") return result;
            if (left != Duration::max() && (left -= slice) <= Duration::zero()) return result;
            const int seen = signals.count();
            if (seen > 0 && (is_durable_ || seen > 1)) return result;
            if (seen > 0 && !was_cancelled) {
                was_cancelled = true;
                context_.terminal.err(
                    "Interrupted: cancelling, which compensates what was done. Once more stops at "
                    "once.\n"
                );
                engine_->cancel(id_, "", "interrupted");
            }
            show_status(frame);
        }
    }

    void show_status(int frame) {
        if (options_.is_quiet || !context_.terminal.is_live()) return;
        static constexpr std::array kSpinner = {"⠋", "⠙", "⠸", "⠴", "⠦", "⠇"};
        std::string text;
        for (const WaitingFor& waiting : engine_->show(id_).waiting_for) {
            text += fmt::format("{}{}", text.empty() ? "" : " | ", waiting.sentence);
        }
        const std::string_view turn = kSpinner[static_cast<std::size_t>(frame) % kSpinner.size()];
        context_.terminal.status(
            fmt::format("{} {}", context_.terminal.glyph(turn, "*"), shorten(text, 100))
        );
    }

    int interrupted() {
        if (!is_durable_) {
            engine_->abort(id_, "", "interrupted twice");
            context_.terminal.err("Stopped. The state was in memory and is gone.\n");
            return kInterrupted;
        }
        const bool is_clean = engine_->drain(std::chrono::seconds(10));
        context_.terminal.err(fmt::format(
            "Stopped{}. Nothing is lost; go on with:\n  ebb run {} --db {} --resume {}\n",
            is_clean ? "" : ", handlers were still running",
            options_.file,
            context_.options.database,
            id_.to_string()
        ));
        return kInterrupted;
    }

    int tell(const Result& result) {
        Terminal& terminal = context_.terminal;
        if (context_.options.json) {
            Json json = {
                {"id", id_.to_string()},
                {"workflow", workflow_.definition.name},
                {"status", result.status}
            };
            if (!result.output.empty()) json["output"] = Json::parse(result.output);
            if (!result.error.empty()) json["error"] = Json::parse(result.error);
            terminal.out(to_text(json) + "\n");
        } else {
            if (!options_.is_quiet) terminal.err(result_line(result));
            if (!result.output.empty()) terminal.out(result.output + "\n");
        }
        if (result.status == "dead_letter") return kEndedBadly;
        return exit_code_of(result);
    }

    std::string result_line(const Result& result) const {
        const Terminal& terminal = context_.terminal;
        if (!result.is_finished && result.status != "dead_letter") {
            return fmt::format("Timed out while it is {}: {}\n", result.status, engine_->why(id_));
        }
        const bool is_good = result.status == "completed";
        std::string text = terminal.paint_err(is_good ? Color::Green : Color::Red, result.status);
        if (!is_good) text += fmt::format(": {}", engine_->why(id_));
        return text + "\n";
    }

    Context& context_;
    const RunOptions& options_;
    LoadedWorkflow workflow_;
    const bool is_durable_;
    StorePtr store_;
    HandlerRegistry handlers_;
    Progress progress_;
    std::unique_ptr<Engine> engine_;
    InstanceId id_;
};

class Worker {
 public:
    Worker(Context& context, const WorkerOptions& options)
        : context_(context),
          options_(options),
          store_(open_kept_store(context, "worker")),
          progress_(
              context.terminal,
              context.options.json ? Progress::Format::Json : Progress::Format::Lines
          ) {
        for (const std::string& file : options.files) workflows_.push_back(load_workflow(file));
        if (workflows_.empty()) load_all();
        add_handlers(handlers_, workflows_);
        EngineOptions engine_options;
        engine_options.threads = options.threads;
        engine_options.queues = options.queues;
        engine_ = std::make_unique<Engine>(*store_, handlers_, engine_options);
        for (const LoadedWorkflow& workflow : workflows_)
            engine_->register_workflow(workflow.definition);
        engine_->set_observer(
            [this](const InstanceSummary& instance, std::span<const HistoryEntry> events) {
                progress_.observe(instance, events);
            }
        );
    }

    int run() {
        const SignalCounter signals;
        if (options_.is_once) {
            while (signals.count() == 0 && engine_->poll() > 0) progress_.print(true);
            progress_.print(true);
            return engine_->drain(timeout_of(options_.drain_timeout)) ? kOk : kTimeout;
        }
        if (!context_.options.json) {
            context_.terminal.err(fmt::format(
                "worker {} serves {} on {}\n",
                engine_->worker_id(),
                handler_list(),
                context_.options.database
            ));
        }
        engine_->run();
        while (signals.wait(100) == 0) progress_.print(true);
        context_.terminal.err(
            "Draining: what runs is finished, nothing new is taken. Once more stops at once.\n"
        );
        return drain(signals);
    }

 private:
    /// Without files: everything that the store knows, with paths relative to here.
    void load_all() {
        for (const WorkflowRow& row : store_->list_workflows()) {
            const auto found = store_->find_workflow(row.name, row.version);
            if (found)
                workflows_.push_back(
                    {.definition = parse_definition_json(found->definition), .file = {}, .text = {}}
                );
        }
        if (workflows_.empty()) {
            throw UsageError{
                "The store has no workflows yet; give the worker their files: ebb worker FILE... "
                "--db ..."
            };
        }
    }

    std::string handler_list() const {
        std::string names;
        for (const std::string& name : handlers_.names())
            names += (names.empty() ? "" : ", ") + name;
        return names.empty() ? "no handlers (timers and stops only)" : names;
    }

    /// A second signal cuts the patience short.
    int drain(const SignalCounter& signals) {
        bool is_clean = false;
        std::jthread draining([&] {
            is_clean = engine_->drain(timeout_of(options_.drain_timeout));
            drained_ = true;
        });
        while (!drained_ && signals.wait(50) < 2) progress_.print(true);
        if (!drained_) engine_->drain(Duration(0));
        draining.join();
        progress_.print(true);
        context_.terminal.err(
            is_clean ? "Drained.\n" : "Stopped; what still ran is handed back.\n"
        );
        return is_clean ? kOk : kTimeout;
    }

    Context& context_;
    const WorkerOptions& options_;
    StorePtr store_;
    HandlerRegistry handlers_;
    std::vector<LoadedWorkflow> workflows_;
    Progress progress_;
    std::unique_ptr<Engine> engine_;
    std::atomic<bool> drained_ = false;
};

}  // namespace

int run(Context& context, const RunOptions& options) {
    return Run(context, options).run();
}

int worker(Context& context, const WorkerOptions& options) {
    return Worker(context, options).run();
}

}  // namespace ebb::cli
