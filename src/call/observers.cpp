#include "call/observers.h"

#include <algorithm>
#include <cstdlib>
#include <exception>
#include <memory>
#include <typeinfo>
#include <utility>

#include <cxxabi.h>

#include <ebb/error.h>

#include "call/event_view.h"

namespace ebb {

namespace {

/// Calls a function with every commit.
class CommitObserver final : public Observer {
 public:
    using Function = std::function<void(const InstanceSummary&, std::span<const HistoryEntry>)>;

    explicit CommitObserver(Function function) : function_(std::move(function)) {}

    void on_committed(const InstanceSummary& instance, std::span<const HistoryEntry> events)
        override {
        function_(instance, events);
    }

 private:
    const Function function_;
};

enum class Notice { None, Start, Retry, Error, Pause, Resume, End };

Notice notice_of(HistoryType type) {
    switch (type) {
        case HistoryType::Started:
            return Notice::Start;
        case HistoryType::StepRetried:
        case HistoryType::CompensationRetried:
            return Notice::Retry;
        case HistoryType::StepFailed:
        case HistoryType::CompensationFailed:
            return Notice::Error;
        case HistoryType::TimerStarted:
        case HistoryType::DecisionAwaited:
        case HistoryType::SignalAwaited:
        case HistoryType::Paused:
        case HistoryType::DeadLettered:
            return Notice::Pause;
        case HistoryType::TimerFired:
        case HistoryType::DecisionCompleted:
        case HistoryType::SignalCompleted:
        case HistoryType::Unpaused:
        case HistoryType::Requeued:
            return Notice::Resume;
        case HistoryType::Completed:
        case HistoryType::Failed:
        case HistoryType::Cancelled:
        case HistoryType::Aborted:
            return Notice::End;
        default:
            return Notice::None;
    }
}

TimePoint retry_due(const InstanceState& state, TokenId id) {
    const Token* token = state.find_token(id);
    return token != nullptr && token->status == TokenStatus::Retrying ? token->due : kNever;
}

/// A paused step has no separate event for continuing: it continues with the signal that came for
/// it, now or before it paused.
bool resumes_step(const InstanceState& state, const HistoryEvent& event) {
    const auto goes_on = [](const Token& token) {
        return token.payload != 0 && token.status == TokenStatus::Ready;
    };
    if (event.type == HistoryType::SignalReceived) {
        return std::any_of(state.tokens.begin(), state.tokens.end(), [&](const Token& token) {
            return goes_on(token) && token.payload == event.seq;
        });
    }
    if (event.type != HistoryType::SignalAwaited) return false;
    const Token* token = state.find_token(event.token);
    return token != nullptr && goes_on(*token) && token->payload < event.seq;
}

}  // namespace

void Observers::add(std::shared_ptr<Observer> observer) {
    if (observer == nullptr) {
        throw Error(ErrorCode::InvalidArgument, "There is no observer to add: it is null.");
    }
    if (auto* interceptor = dynamic_cast<Interceptor*>(observer.get())) {
        interceptors_.push_back(interceptor);
    }
    if (auto* of_worker = dynamic_cast<WorkerObserver*>(observer.get())) {
        of_workers_.push_back(of_worker);
    }
    observers_.push_back(std::move(observer));
}

void Observers::check_start(const StartRequest& start) const {
    for (Interceptor* interceptor : interceptors_) interceptor->before_start(start);
}

void Observers::check_call(const StepContext& step, const Payload& input) const {
    for (Interceptor* interceptor : interceptors_) interceptor->before_call(step, input);
}

void Observers::check_output(const StepContext& step, const Payload& output) const {
    if (step.choice != nullptr && step.choice->is_paused) return;
    for (Interceptor* interceptor : interceptors_) interceptor->after_call(step, output);
}

Handler Observers::guard(const Handler& handler) const {
    return [this, &handler](const Payload& input, const StepContext& step) {
        check_call(step, input);
        Payload output = handler(input, step);
        check_output(step, output);
        return output;
    };
}

namespace {

/// The class of an observer, as it is spelled in C++.
std::string type_name(const Observer& observer) {
    if (dynamic_cast<const CommitObserver*>(&observer) != nullptr) return "ebb::make_observer";
    const char* name = typeid(observer).name();
    int status = 0;
    const std::unique_ptr<char, void (*)(void*)> readable(
        abi::__cxa_demangle(name, nullptr, nullptr, &status), std::free
    );
    return status == 0 ? readable.get() : name;
}

void log_failure(
    const Log& log, const Observer& observer, const Notified& notified, std::string_view error
) {
    std::vector<LogField> fields{
        {"observer", type_name(observer)},
        {"function", notified.function},
        {"instance", notified.instance.to_string()},
    };
    if (!notified.event.empty()) fields.emplace_back("history_event", notified.event);
    fields.emplace_back("error", error);
    log.write(LogLevel::Error, "observer_failed", fields);
}

/// Calls an observer, and logs what it throws.
template <typename Tell>
void notify(const Log& log, const Observer& observer, const Notified& notified, Tell tell) {
    try {
        tell();
    } catch (const std::exception& error) {
        log_failure(log, observer, notified, error.what());
    } catch (...) {
        log_failure(log, observer, notified, "an exception that is not a std::exception");
    }
}

}  // namespace

template <typename Tell>
void Observers::each(const Log& log, const Notified& notified, Tell tell) const {
    for (const auto& observer : observers_) {
        notify(log, *observer, notified, [&] { tell(*observer); });
    }
}

void Observers::on_call(const StepContext& step, const CallDelay& delay, const Log& log) const {
    for (WorkerObserver* observer : of_workers_) {
        notify(log, *observer, {"on_call", step.instance, {}}, [&] {
            observer->on_call(step, delay);
        });
    }
}

void Observers::before_step(const StepContext& step, const Payload& input, const Log& log) const {
    each(log, {"before_step", step.instance, {}}, [&](Observer& observer) {
        observer.before_step(step, input);
    });
}

void Observers::after_step(
    const StepContext& step, const CallResult& result, Duration duration, const Log& log
) const {
    if (observers_.empty()) return;
    CallEnd end{.duration = duration};
    end.is_paused = step.choice != nullptr && step.choice->is_paused;
    if (const auto* failure = std::get_if<Failure>(&result)) {
        end.is_completed = false;
        end.code = failure->code;
        end.message = failure->message;
        end.is_permanent = failure->is_permanent;
    } else {
        end.output = std::get<Payload>(result);
    }
    each(log, {"after_step", step.instance, {}}, [&](Observer& observer) {
        observer.after_step(step, end);
    });
}

std::string Observers::traceparent(const CallId& call) const noexcept {
    for (const auto& observer : observers_) {
        try {
            if (std::string text = observer->traceparent(call); !text.empty()) return text;
        } catch (const std::exception&) {
            // A call is made without it.
            continue;
        }
    }
    return {};
}

void Observers::committed(
    const InstanceSummary& instance,
    const InstanceState& state,
    std::span<const HistoryEvent> events,
    const Log& log
) const {
    if (observers_.empty()) return;
    std::vector<HistoryEntry> entries;
    std::transform(events.begin(), events.end(), std::back_inserter(entries), to_entry);
    for (std::size_t i = 0; i < events.size(); ++i) {
        const HistoryEntry& entry = entries[i];
        const Notice notice = notice_of(events[i].type);
        const auto tell = [&](const char* function, auto call) {
            each(log, {function, instance.id, entry.type}, call);
        };
        if (notice == Notice::Start) tell("on_start", [&](Observer& o) { o.on_start(instance); });
        if (notice == Notice::Error) {
            tell("on_error", [&](Observer& o) { o.on_error(instance, entry); });
        }
        if (notice == Notice::Pause) {
            tell("on_pause", [&](Observer& o) { o.on_pause(instance, entry); });
        }
        if (notice == Notice::Resume || resumes_step(state, events[i])) {
            tell("on_resume", [&](Observer& o) { o.on_resume(instance, entry); });
        }
        if (notice == Notice::End) tell("on_end", [&](Observer& o) { o.on_end(instance); });
        if (notice == Notice::Retry) {
            const TimePoint due = retry_due(state, events[i].token);
            tell("on_retry_scheduled", [&](Observer& o) {
                o.on_retry_scheduled(instance, entry, due);
            });
        }
    }
    each(log, {"on_committed", instance.id, {}}, [&](Observer& observer) {
        observer.on_committed(instance, entries);
    });
}

std::shared_ptr<Observer> make_observer(
    std::function<void(const InstanceSummary& instance, std::span<const HistoryEntry> events)>
        on_committed
) {
    return std::make_shared<CommitObserver>(std::move(on_committed));
}

}  // namespace ebb
