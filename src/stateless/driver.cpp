#include "stateless/driver.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include <ebb/error.h>

#include "call/compensation.h"
#include "call/port.h"
#include "call/refusal.h"

namespace ebb::stateless {

namespace {

StepContext make_context(
    const Snapshot::Data& data, Invocation& call, TimePoint begun, const std::stop_token& stop
) {
    TimePoint deadline = call.deadline;
    if (call.timeout > Duration::zero()) deadline = std::min(deadline, begun + call.timeout);
    const Definition& definition = data.definition();
    StepContext context;
    context.instance = data.identity.id;
    context.workflow = definition.name;
    context.workflow_version = definition.version;
    context.step = std::move(call.node);
    context.handler = std::move(call.handler);
    context.attempt = call.attempt.attempt;
    context.pauses = call.attempt.pauses;
    context.max_attempts = call.max_attempts;
    context.idempotency_key = std::move(call.idempotency_key);
    context.deadline = deadline;
    context.stop = stop;
    context.metadata = *call.metadata;
    return context;
}

/// The input of the call; what it undoes goes into `context`.
Payload input_of(const Snapshot::Data& data, const Invocation& call, StepContext& context) {
    if (!call.is_compensation) return data.record.payload(call.input);
    const Kept* undone = data.record.find(call.compensated);
    if (undone == nullptr) {
        throw Error(
            ErrorCode::CorruptState,
            fmt::format(
                "The snapshot lacks the event {}, which must be compensated.", call.compensated
            )
        );
    }
    Payload step_input = undone->ref == 0 ? Payload() : data.record.payload(undone->ref);
    CompensationCall prepared =
        prepare_compensation(call.key_root, data.record.to_event(*undone), std::move(step_input));
    context.compensates = std::move(prepared.step);
    return std::move(prepared.input);
}

}  // namespace

void Driver::start(const event::Started& started) {
    const TimePoint begun = now();
    Decision decision = decide(data_.program(), data_.identity, {}, started, data_.record, begun);
    if (decision.verdict == Decision::Verdict::Refused) throw_refusal(decision.refusal);
    accept(std::move(decision), begun);
}

void Driver::request(const Event& event) {
    const TimePoint asked = now();
    Decision decision =
        decide(data_.program(), data_.identity, data_.state, event, data_.record, asked);
    if (decision.verdict == Decision::Verdict::Refused) throw_refusal(decision.refusal);
    if (decision.verdict == Decision::Verdict::Ignored) return;
    ++data_.version;
    accept(std::move(decision), asked);
}

void Driver::commit(const Event& event, TimePoint decided) {
    Decision decision = decide(
        data_.program(), data_.identity, std::move(data_.state), event, data_.record, decided
    );
    if (decision.verdict != Decision::Verdict::Changed) {
        throw Error(
            ErrorCode::CorruptState,
            fmt::format(
                "The snapshot's state asks for \"{}\", which then changes nothing.",
                event_name(event)
            )
        );
    }
    ++data_.version;
    accept(std::move(decision), decided);
}

void Driver::accept(Decision&& decision, TimePoint now) {
    data_.state = std::move(decision.state);
    if (environment_.observers.empty()) {
        data_.record.absorb(std::move(decision.history), data_.state);
        return;
    }
    const std::vector<HistoryEvent> events = decision.history;
    data_.record.absorb(std::move(decision.history), data_.state);
    environment_.observers.committed(summary_of(data_, now), data_.state, events, environment_.log);
}

const Handler* Driver::find_handler(TokenId id) const {
    const Token& token = *data_.state.find_token(id);
    const ProgramNode& node = data_.program().node(token.node);
    return environment_.handlers.find(
        token.compensates != 0 ? node.compensate->handler : node.handler
    );
}

std::optional<Driver::Chosen> Driver::choose(TimePoint current) const {
    std::optional<Chosen> next;
    each_work(data_.state, [&](const Work& work) {
        const bool is_call = work.kind == Work::Kind::Call;
        if (work.due > current && !(options_.retry_now && is_call)) return;
        if (next && !goes_before(work, next->work)) return;
        const Handler* handler = is_call ? find_handler(work.token) : nullptr;
        if (!is_call || handler != nullptr) next = {.work = work, .handler = handler};
    });
    return next;
}

bool Driver::advance() {
    const TimePoint current = now();
    const std::optional<Chosen> chosen = choose(current);
    return chosen && do_work(*chosen, current);
}

bool Driver::do_work(const Chosen& chosen, TimePoint current) {
    const Work& work = chosen.work;
    if (work.kind == Work::Kind::Call) return call(chosen, current);
    const Token* token = data_.state.find_token(work.token);
    const Visit visit = token == nullptr ? 0 : token->visit;
    if (work.kind == Work::Kind::Stop) {
        commit(event::TokenStopped{.token = work.token, .visit = visit}, current);
    } else {
        commit(event::TimerFired{.token = work.token, .visit = visit}, current);
    }
    return true;
}

bool Driver::call(const Chosen& chosen, TimePoint begun) {
    auto call = invocation(data_.program(), data_.identity, data_.state, chosen.work.token);
    if (!call) return false;
    StepContext context = make_context(data_, *call, begun, options_.stop);
    const Payload input = input_of(data_, *call, context);
    if (call->payload != 0) context.payload = data_.record.payload(call->payload);
    StepChoice choice;
    context.choice = &choice;
    const LogPort port(environment_.log, context);
    context.port = &port;
    const Observers& observers = environment_.observers;
    if (!observers.empty()) observers.before_step(context, input, environment_.log);
    const auto handler =
        environment_.entry_handlers.held(data_.program(), context.handler, chosen.handler);
    Handler guarded;
    if (observers.has_interceptors()) guarded = observers.guard(*handler);
    CallResult result = call_handler(
        guarded ? guarded : *handler,
        input,
        context,
        {.payload = environment_.limits(), .error_bytes_max = environment_.options.error_bytes_max}
    );
    const TimePoint ended = now();
    const Duration duration = std::max(ended - begun, Duration::zero());
    if (!observers.empty()) observers.after_step(context, result, duration, environment_.log);
    // A handler that fails because it was asked to stop is called again another time.
    if (std::holds_alternative<Failure>(result) && options_.stop.stop_requested()) return false;
    data_.last_started_at = std::chrono::floor<std::chrono::milliseconds>(begun);
    data_.total_execution_time += duration;
    commit(outcome(*call, std::move(result), context, ended), ended);
    return true;
}

Event Driver::outcome(
    const Invocation& call, CallResult result, const StepContext& context, TimePoint ended
) {
    if (auto* output = std::get_if<Payload>(&result)) {
        if (context.choice->is_paused)
            return event::StepPaused{.attempt = call.attempt, .worker = {}};
        return event::StepCompleted{
            .attempt = call.attempt,
            .output = std::move(*output),
            .started_at = {},
            .worker = {},
            .handle = std::move(context.choice->handle)
        };
    }
    Failure failure = std::move(std::get<Failure>(result));
    if (ended >= context.deadline && !failure.is_permanent) failure.code = "timeout";
    return event::StepFailed{
        .attempt = call.attempt, .failure = std::move(failure), .started_at = {}, .worker = {}
    };
}

}  // namespace ebb::stateless
