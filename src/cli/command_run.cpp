// `ebb run`: one instance from here to its end.

#include <algorithm>
#include <atomic>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/draining.h"
#include "cli/failure_text.h"
#include "cli/input_argument.h"
#include "cli/instance_ref.h"
#include "cli/known_key.h"
#include "cli/label_argument.h"
#include "cli/one_instance_store.h"
#include "cli/patience.h"
#include "cli/process_mark.h"
#include "cli/progress_display.h"
#include "cli/read_history.h"
#include "cli/serving.h"
#include "cli/text.h"
#include "cli/traces.h"
#include "cli/waiting.h"
#include "store/store.h"
#include "support/sync.h"
#include "view/instance_json.h"

namespace ebb::cli {

namespace {

constexpr Duration kFrame = std::chrono::milliseconds(100);
/// How often the store is checked for what other processes have done to the instance.
constexpr Duration kLook = std::chrono::seconds(1);
constexpr Duration kEndDrain = std::chrono::seconds(30);

/// The workflow to run, from a file or from the store, and possibly an existing instance.
struct Plan {
    std::vector<DefinitionFile> files{};
    std::optional<InstanceId> resumed{};
    std::shared_ptr<const Definition> definition{};
    std::vector<Served> served{};
};

std::filesystem::path directory_of(const Plan& plan) {
    return plan.files.empty() ? std::filesystem::current_path() : plan.files.front().directory();
}

[[noreturn]] void throw_refused(const RefusedWorkflow& refused) {
    throw Error(
        ErrorCode::InvalidArgument,
        fmt::format(
            "The handler \"{}\" of {} v{} runs a program that only the database names. Give the "
            "workflow's file (`ebb run --resume INSTANCE FILE`), or allow it with --allow-exec.",
            refused.handlers.front(),
            refused.name,
            refused.version
        )
    );
}

Plan make_plan(Session& session, const RunOptions& options) {
    Plan plan;
    if (options.file.empty() && options.resume.empty()) {
        throw Error(
            ErrorCode::InvalidArgument,
            "Name the file of a workflow to run, or continue an instance with --resume ID."
        );
    }
    if (!options.file.empty()) {
        plan.files.push_back(load_definition_file(options.file, session));
        plan.definition = std::make_shared<const Definition>(plan.files.front().definition);
    }
    if (!options.resume.empty()) {
        Engine& engine = session.client("run --resume");
        const auto here = make_local_client(engine, session.any_store(), *session.streams().clock);
        plan.resumed = resolve_instance(*here, options.resume);
        const InstanceSummary summary = *engine.find(*plan.resumed);
        if (plan.definition && plan.definition->name != summary.workflow) {
            throw Error(
                ErrorCode::InvalidArgument,
                fmt::format(
                    "The instance {} runs the workflow \"{}\", but {} has \"{}\".",
                    summary.id.to_string(),
                    summary.workflow,
                    options.file,
                    plan.definition->name
                )
            );
        }
        plan.definition = engine.definition(summary.workflow, summary.version);
    }
    plan.served.push_back({*plan.definition, directory_of(plan)});
    const ExecPolicy policy(session, plan.files, options.may_exec);
    const auto refused = take_refused(plan.served, policy);
    if (!refused.empty()) throw_refused(refused.front());
    // Nothing is started that could not run here.
    if (!session.is_in_memory()) session.any_store().check_rights();
    return plan;
}

/// To try a workflow without the programs that have its handlers: those that are missing return
/// their input. Their names.
std::vector<std::string> add_stubs(HandlerRegistry& handlers, const Definition& definition) {
    std::vector<std::string> names = missing_handlers(definition, handlers);
    for (const std::string& name : names) {
        handlers.add(name, [](const Json& input) { return input; });
    }
    return names;
}

class Run {
 public:
    Run(Session& session, const RunOptions& options, Plan plan)
        : session_(session),
          options_(options),
          plan_(std::move(plan)),
          progress_(index_nodes(*plan_.definition)),
          display_(session.streams().err, session.err()),
          patience_([this](const std::string& text) {
              if (is_shown()) display_.add(text);
          }),
          store_(session.any_store()),
          policy_(session, plan_.files, options.may_exec),
          known_handlers_(handlers_of(session.any_store(), plan_.served, plan_.files, policy_)),
          stubs_(
              !options.stub.empty() ? add_stubs(known_handlers_, *plan_.definition)
                                    : std::vector<std::string>()
          ),
          handlers_(watch_handlers(
              known_handlers_,
              *session.streams().clock,
              [this](const CallStarted& call) { on_call(call); }
          )),
          engine_(
              store_,
              handlers_,
              {.worker_id = process_worker_id(),
               .threads = options.threads,
               .stop_grace = options.stop_grace}
          ) {
        engine_.add_observer(make_observer([this](const auto&, const auto&) {
            has_news_ = true;
            interrupts_.notify();
        }));
        if (auto traces = traces_from_environment(session, nullptr, true)) {
            engine_.add_observer(std::move(traces));
        }
    }

    int go() {
        check_handlers();
        const auto caught = session_.streams().catch_signals(interrupts_);
        begin();
        if (session_.is_in_memory()) return go_on();
        try {
            return go_on();
        } catch (const Error& error) {
            display_.finish();
            return tell_left_alone(session_, id_, error);
        }
    }

 private:
    enum class End { Finished, DeadLetter, Moved, Interrupted, TimedOut };

    int go_on() {
        engine_.run();
        const End end = follow();
        drain(end);
        std::optional<InstanceView> view;
        // The outcome is known only when the store reports it.
        while (!patience_.reach([&] {
            read_news();
            view = engine_.show(id_);
        })) {
            if (is_given_up(end)) return tell_unknown(end);
            const Duration left = options_.timeout - (session_.now() - begun_);
            interrupts_.wait(std::min(patience_.pause(), left));
        }
        display_.finish();
        return tell(end, *view);
    }

    bool is_given_up(End end) {
        if (end == End::Interrupted || end == End::TimedOut) return true;
        return interrupts_.count() > heard_ || session_.now() - begun_ >= options_.timeout;
    }

    int tell_unknown(End end) {
        display_.finish();
        const bool is_interrupted = end == End::Interrupted || interrupts_.count() > heard_;
        const std::string message = fmt::format(
            "{}, and the database is out of reach: {}",
            is_interrupted ? "Interrupted"
                           : fmt::format("Not finished within {}", elapsed(options_.timeout)),
            patience_.failure()->what()
        );
        const int signal = interrupts_.first_signal();
        return tell_left_alone(
            session_,
            id_,
            {.exit_code = is_interrupted ? exit_code_of_signal(signal) : int{kTimeout},
             .code = is_interrupted ? "interrupted" : "timeout",
             .message = message}
        );
    }

    bool is_shown() const { return !session_.options().is_quiet; }

    /// `--events`: the events are the result.
    bool is_streamed() const { return session_.options().format == OutputFormat::Jsonl; }

    void on_call(const CallStarted& call) {
        const Lock lock(calls_mutex_);
        calls_.push_back(call);
        interrupts_.notify();
    }

    /// If only a C++ program has a handler, the instance would wait forever in memory. In a
    /// database, another worker may have the handler.
    void check_handlers() {
        if (!stubs_.empty() && is_shown()) {
            display_.add(fmt::format(
                "{} \"{}\" only {} the input.",
                stubs_.size() == 1 ? "The handler" : "The handlers",
                fmt::join(stubs_, "\", \""),
                stubs_.size() == 1 ? "returns" : "return"
            ));
        }
        const auto missing = missing_handlers(*plan_.definition, known_handlers_);
        if (missing.empty()) return;
        const std::string message = fmt::format(
            "The workflow \"{}\" calls {} \"{}\", which its `handlers:` {} not describe.",
            plan_.definition->name,
            missing.size() == 1 ? "the handler" : "the handlers",
            fmt::join(missing, "\", \""),
            missing.size() == 1 ? "does" : "do"
        );
        if (session_.is_in_memory()) {
            throw Error(
                ErrorCode::HandlerNotFound,
                message + " Add them to the file, or run it from a program that registers them."
            );
        }
        if (is_shown()) display_.add(message + " Another worker must have them.");
    }

    void begin() {
        Payload input = "null";
        if (!options_.input.empty()) {
            const std::string text = plan_.files.empty() ? "" : plan_.files.front().text;
            input = read_input(options_.input, text, session_.streams());
        }
        begun_ = session_.now();
        std::string difference;
        if (plan_.resumed) {
            id_ = *plan_.resumed;
        } else {
            engine_.register_workflow(*plan_.definition);
            const StartedInstance started = engine_.start(
                plan_.definition->name,
                std::move(input),
                {.version = plan_.definition->version,
                 .key = options_.key,
                 .priority = options_.priority,
                 .by = session_.by(options_.by),
                 .labels = read_labels(options_.labels)}
            );
            id_ = started.id;
            is_new_ = started.is_new;
            if (!is_new_) difference = known_key_difference(started);
        }
        store_.set_instance(id_);
        if (plan_.resumed || !is_new_) store_.take_over_from_dead_processes();
        if (is_streamed()) tell_start();
        if (!is_shown()) return;
        const Style& style = session_.err();
        display_.add(fmt::format(
            "{} v{}{}{}",
            style.bold(plan_.definition->name),
            plan_.definition->version,
            session_.is_in_memory() ? "" : "  " + style.dim(short_id(id_)),
            beginning()
        ));
        if (!difference.empty()) display_.add(" " + style.paint(Style::Color::Yellow, difference));
    }

    /// What the first line says of an instance that is not new.
    std::string beginning() {
        if (!plan_.resumed && is_new_) return {};
        const auto summary = engine_.find(id_);
        const bool has_ended = summary && summary->finished_at != TimePoint{};
        if (plan_.resumed) return has_ended ? " has ended" : " continues";
        return has_ended ? " already has this key and has ended"
                         : " already has this key and continues";
    }

    void tell_start() {
        session_.print_json_line(
            {{"id", id_.to_string()},
             {"workflow", plan_.definition->name},
             {"version", plan_.definition->version},
             {"is_new", !plan_.resumed && is_new_}}
        );
    }

    void read_news() {
        has_news_ = false;
        std::vector<CallStarted> calls;
        {
            const Lock lock(calls_mutex_);
            calls = calls_;
        }
        const auto events = read_history(engine_, id_, progress_.last_seq());
        {
            // Calls that came in the meantime stay. If the store does not answer, all calls stay.
            const Lock lock(calls_mutex_);
            calls_.erase(calls_.begin(), calls_.begin() + std::ssize(calls));
        }
        for (const CallStarted& call : calls) {
            if (call.instance == id_) progress_.read(call);
        }
        for (const HistoryEntry& event : events) {
            const auto line = progress_.read(event);
            if (line && is_shown()) display_.add(*line);
            if (is_streamed()) session_.print_json_line(view::event_json(event));
            if (event.type == "dead_lettered") is_dead_lettered_ = true;
            if (event.type == "requeued") is_dead_lettered_ = false;
            if (event.type == "moved") is_moved_ = true;
            if (event.type == "arrived") is_moved_ = false;
        }
    }

    void show() {
        const TimePoint now = session_.now();
        const bool is_out_of_reach = patience_.failure().has_value();
        const bool has_waited = now - last_look_ >= (is_out_of_reach ? patience_.pause() : kLook);
        if (has_waited || (!is_out_of_reach && (has_news_ || has_calls()))) look();
        if (is_shown()) display_.draw(progress_.live(), now);
    }

    bool has_calls() {
        const Lock lock(calls_mutex_);
        return !calls_.empty();
    }

    void look() {
        patience_.reach([this] { read_news(); });
        last_look_ = session_.now();
    }

    End follow() {
        look();
        while (true) {
            show();
            if (progress_.is_finished()) return was_cancelled_ ? why_cancelled_ : End::Finished;
            if (is_moved_) return End::Moved;
            if (is_dead_lettered_) return End::DeadLetter;
            if (interrupts_.count() > heard_) {
                heard_ = interrupts_.count();
                if (!session_.is_in_memory() || was_cancelled_) return End::Interrupted;
                cancel(
                    End::Interrupted,
                    "Interrupted: the instance rolls back. Press Ctrl-C again to abort it."
                );
            }
            const Duration waited = session_.now() - begun_;
            if (waited >= options_.timeout && !was_cancelled_) {
                if (!session_.is_in_memory()) return End::TimedOut;
                cancel(End::TimedOut, "The timeout has expired: the instance rolls back.");
            }
            Duration pause = display_.is_live() && is_shown() ? kFrame : kLook;
            if (!was_cancelled_) pause = std::min(pause, options_.timeout - waited);
            interrupts_.wait(pause);
        }
    }

    void cancel(End why, std::string_view message) {
        was_cancelled_ = true;
        why_cancelled_ = why;
        if (is_shown()) display_.add(message);
        engine_.cancel(id_, "ebb run", why == End::TimedOut ? "timeout" : "interrupted");
    }

    void drain(End end) {
        Duration limit = kEndDrain;
        if (end == End::Interrupted || end == End::TimedOut) {
            limit = session_.is_in_memory() ? Duration::zero() : options_.drain_timeout;
        }
        if (end == End::Interrupted && session_.is_in_memory() && !progress_.is_finished()) {
            engine_.abort(id_, "ebb run", "interrupted twice");
        }
        Draining draining(engine_, interrupts_, limit);
        const bool is_busy = engine_.counters().in_flight > 0;
        if (limit > Duration::zero() && is_busy && end != End::Finished && is_shown()) {
            display_.add("Waiting for the running handlers. Press Ctrl-C again to stop them.");
        }
        while (!draining.is_over()) {
            if (interrupts_.count() > heard_) draining.hurry();
            show();
            interrupts_.wait(kFrame);
        }
        draining.finish();
    }

    int tell(End end, const InstanceView& view) {
        // Errors are printed even with --quiet. JSON output contains them.
        const bool is_good =
            end == End::Finished && view.summary.status == InstanceStatus::Completed;
        const bool is_error = !is_good && !session_.options().is_json;
        if (is_shown() || is_error) tell_end(end, view);
        if (session_.options().is_json) {
            session_.print_json(view::instance_json(view));
        } else if (view.summary.status == InstanceStatus::Completed) {
            session_.print_json(view::payload_json(view.output));
        }
        switch (end) {
            case End::Finished:
                return exit_code_of_status(view.summary.status);
            case End::DeadLetter:
                return kEndedBadly;
            case End::Moved:
                return kRefused;
            case End::TimedOut:
                return kTimeout;
            case End::Interrupted:
                // The handlers that were running may have been the last ones.
                if (view.summary.status == InstanceStatus::Completed) return kOk;
                return exit_code_of_signal(interrupts_.first_signal());
        }
        return kInternal;
    }

    std::string ending(End end, const InstanceView& view) const {
        const Style& style = session_.err();
        const InstanceSummary& summary = view.summary;
        const std::string status = style.status(summary.status);
        if (summary.finished_at == TimePoint{}) {
            if (end == End::Interrupted) return "Interrupted";
            if (end == End::DeadLetter) return status;
            if (end == End::Moved) return status + ": it continues elsewhere, from its snapshot";
            return fmt::format("Not finished within {}", elapsed(options_.timeout));
        }
        const std::string after = elapsed(summary.finished_at - summary.created_at);
        return fmt::format("{} after {}", status, after);
    }

    void tell_end(End end, const InstanceView& view) {
        std::string text = ending(end, view);
        if (!view.error.empty()) {
            // The line of the step has said it in full.
            const bool is_said = is_shown() && progress_.has_said(view.error);
            text += ": " + (is_said ? cause_name(view.error) : cause_text(view.error));
        }
        display_.add(text);
        const bool is_finished = view.summary.finished_at != TimePoint{};
        if (!is_finished && !session_.is_in_memory() && is_shown()) tell_how_to_go_on(end);
        display_.finish();
    }

    void tell_how_to_go_on(End end) {
        const std::string file =
            options_.file.empty() || options_.file == "-" ? "" : " " + shell_word(options_.file);
        const std::string id = id_.to_string();
        const std::string db = session_.db_option();
        if (end == End::Moved) {
            display_.add(fmt::format("Bring it back with:\n  ebb import FILE{}", db));
            return;
        }
        display_.add("The instance is kept. Continue it with:");
        if (end == End::DeadLetter) display_.add(fmt::format("  ebb requeue {}{}", id, db));
        display_.add(fmt::format("  ebb run --resume {}{}{}", id, file, db));
        display_.add(fmt::format("  ebb worker{}{}", file, db));
    }

    Session& session_;
    const RunOptions& options_;
    Plan plan_;
    Interrupts interrupts_;
    Mutex calls_mutex_;
    std::vector<CallStarted> calls_ EBB_GUARDED_BY(calls_mutex_);
    std::atomic<bool> has_news_{false};
    Progress progress_;
    ProgressDisplay display_;
    Patience patience_;
    OneInstanceStore store_;
    ExecPolicy policy_;
    HandlerRegistry known_handlers_;
    std::vector<std::string> stubs_;
    HandlerRegistry handlers_;
    Engine engine_;
    InstanceId id_;
    TimePoint begun_{};
    TimePoint last_look_{};
    bool is_new_ = true;
    bool is_dead_lettered_ = false;
    bool is_moved_ = false;
    bool was_cancelled_ = false;
    End why_cancelled_ = End::Finished;
    int heard_ = 0;
};

}  // namespace

int run_workflow(Session& session, const RunOptions& options) {
    return Run(session, options, make_plan(session, options)).go();
}

}  // namespace ebb::cli
