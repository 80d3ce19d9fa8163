#include "player.h"

#include <algorithm>
#include <stdexcept>

#include <fmt/format.h>

#include <ebb/error.h>

namespace ebb::golden {

namespace {

constexpr int kRoundsMax = 10'000;
constexpr Duration kLease = std::chrono::hours(1);
/// The player gives up after this many rounds in which there is no time to wait for. A process that
/// will not come back may hold something, and its lease must expire first.
constexpr int kStuckRounds = 500;
/// After a fault, time advances in small steps for a while.
constexpr int kRepeatRounds = 80;
constexpr Duration kRepeatPause = std::chrono::milliseconds(50);
/// How often time advances after a fault when nothing is due any more.
constexpr int kQuietRounds = 8;
/// Requests that the store could not take are repeated, as a client would do.
constexpr int kTriesMax = 100;
constexpr Duration kTick = std::chrono::milliseconds(1);
constexpr Duration kPatience = std::chrono::milliseconds(5);

Duration seconds(const Json& value) {
    return Duration(static_cast<Duration::rep>(value.get<double>() * 1e6));
}

}  // namespace

Player::Process::Process(Store& inner, Fault& fault, const HandlerRegistry& nobody, Clock& clock)
    : store(inner, fault), world(store, nobody, {.worker_id = "outside", .clock = &clock}) {}

Player::Player(const Case& test_case, Store& store, ManualClock& clock, Fault fault)
    : case_(test_case),
      store_(store),
      clock_(clock),
      start_(clock.now()),
      fault_(fault),
      events_(test_case.script.value("events", Json::array())) {
    for (const Json& name : test_case.script.value("without", Json::array())) {
        missing_.insert(name.get<std::string>());
    }
}

void Player::boot() {
    handlers_ = HandlerRegistry();
    std::set<std::string> names;
    for (const std::string& name : handlers_of(case_.definition)) names.insert(name);
    for (const Definition& version : case_.versions) {
        for (const std::string& name : handlers_of(version)) names.insert(name);
    }
    for (const std::string& handler : names) {
        if (missing_.contains(handler)) continue;
        handlers_.add_raw(
            handler, Handler([this, handler](const Payload& input, const StepContext& context) {
                return call(handler, input, context);
            })
        );
    }
    process_ = std::make_unique<Process>(store_, fault_, nobody_, clock_);
    process_->engine = std::make_unique<Engine>(
        process_->store,
        handlers_,
        EngineOptions{.worker_id = worker_, .threads = 4, .lease = kLease, .clock = &clock_}
    );
}

void Player::expire_worker() {
    if (worker_.empty()) return;
    for (const WorkerRow& row : store_.workers()) {
        if (row.id == worker_) store_.heartbeat(row, Duration(1));
    }
    clock_.advance(std::chrono::milliseconds(1));
}

void Player::reboot() {
    process_.reset();
    const bool comes_back = fault_.kind == Fault::Kind::Restart || fault_.kind == Fault::Kind::None;
    if (!comes_back) {
        expire_worker();
        worker_ = fmt::format("worker{}", ++workers_);
    }
    boot();
}

void Player::begin() {
    process_->engine->register_workflow(case_.definition);
    const Json input = case_.script.value("input", Json::object());
    id_ = process_->engine
              ->start(case_.definition.name, Payload::text(input.dump()), {.key = "golden"})
              .id;
}

void Player::play() {
    boot();
    play_on();
}

void Player::play_on() {
    for (int round = 0; round < kRoundsMax; ++round) {
        try {
            if (id_ == InstanceId{}) {
                begin();
                continue;
            }
            act_when_due();
            process_->engine->poll();
            const bool has_all_happened =
                std::none_of(events_.begin(), events_.end(), [&](const Json& event) {
                    return event.contains("at") &&
                           !done_.contains(static_cast<std::size_t>(&event - &events_[0]));
                });
            if (is_over() && has_all_happened) return;
            if (!move_on()) return;
        } catch (const testing::SimulatedCrash&) {
            reboot();
        } catch (const Error& error) {
            if (!error.is_transient()) throw;
            clock_.advance(kPatience);
        }
    }
    throw std::runtime_error(case_.name + ": the script does not end");
}

/// Did the call with this key and these numbers reach an end that the store knows?
bool Player::is_end_known(const StepContext& context, const Call& call) {
    const auto events = store_.history({.instance = context.instance, .types = {}, .node = {}});
    const auto is_of_visit = [&](const HistoryEvent& event) {
        return context.idempotency_key ==
               fmt::format("{}:{}", context.instance.to_string(), event.visit);
    };
    int pauses = 0;
    return std::any_of(events.begin(), events.end(), [&](const HistoryEvent& event) {
        switch (event.type) {
            case HistoryType::StepCompleted:
            case HistoryType::StepRetried:
            case HistoryType::StepFailed:
                return event.attempt == call.attempt && is_of_visit(event);
            case HistoryType::SignalAwaited:
                return is_of_visit(event) && ++pauses > call.pauses;
            case HistoryType::StepCompensated:
            case HistoryType::CompensationRetried:
            case HistoryType::CompensationFailed:
                return event.attempt == call.attempt &&
                       context.idempotency_key ==
                           fmt::format("{}:undo:{}", context.instance.to_string(), event.ref);
            default:
                return false;
        }
    });
}

/// The entry of the script that this call plays: the next one, or the same one again if the result
/// of its last call was lost.
int Player::turn_of(const std::string& handler, const StepContext& context) {
    const auto known = by_key_.find(context.idempotency_key);
    const bool is_repeated = known != by_key_.end() && !known->second.has_died &&
                             fault_.has_struck && !is_end_known(context, known->second);
    const int turn = is_repeated ? known->second.turn : ++turns_[handler];
    by_key_[context.idempotency_key] = {
        .turn = turn, .attempt = context.attempt, .pauses = context.pauses
    };
    return turn;
}

Payload Player::call(const std::string& handler, const Payload& input, const StepContext& context) {
    const int turn = turn_of(handler, context);
    calls_.push_back(handler);
    for (std::size_t i = 0; i < events_.size(); ++i) {
        const Json& event = events_[i];
        const bool is_now = event.value("during", "") == handler && event.value("call", 1) == turn;
        if (is_now && !done_.contains(i)) act(i);
    }
    const Json outcomes =
        case_.script.value("handlers", Json::object()).value(handler, Json::array());
    if (static_cast<std::size_t>(turn) > outcomes.size()) {
        return context.compensates ? Payload("null") : input;
    }
    const Json& outcome = outcomes[static_cast<std::size_t>(turn - 1)];
    if (outcome == "dies") by_key_[context.idempotency_key].has_died = true;
    tell_choice(outcome, context);
    return perform(outcome, input);
}

Payload Player::perform(const Json& outcome, const Payload& input) {
    if (outcome == "ok") return input;
    if (outcome == "dies") {
        calls_.back() += "?";
        process_->store.die();
        return "null";
    }
    const bool fails =
        outcome == "fail" || outcome == "fail for good" ||
        (outcome.is_object() && (outcome.contains("fail") || outcome.contains("retry_after")));
    if (fails) calls_.back() += "!";
    if (outcome == "fail") throw std::runtime_error("boom");
    if (outcome == "fail for good") throw PermanentError("boom", "broken");
    if (outcome.contains("takes")) clock_.advance(seconds(outcome.at("takes")));
    if (outcome.contains("retry_after")) {
        throw RetryAfter("later", seconds(outcome.at("retry_after")));
    }
    if (outcome.contains("fail")) {
        const auto message = outcome.at("fail").get<std::string>();
        if (!outcome.contains("details")) throw std::runtime_error(message);
        throw HandlerFailure(
            message, {.code = "error", .retry_after = {}, .details = outcome.at("details").dump()}
        );
    }
    return outcome.contains("output") ? Payload(outcome.at("output").dump()) : input;
}

bool Player::is_patient(int& tries, const Error& error) {
    if (!error.is_transient() || ++tries > kTriesMax) return false;
    clock_.advance(kPatience);
    return true;
}

void Player::act(std::size_t event) {
    int tries = 0;
    while (true) {
        try {
            act_or_throw(events_[event]);
            break;
        } catch (const Error& error) {
            if (is_patient(tries, error)) continue;
            refusals_.push_back(fmt::format("{}: {}", to_string(error.code()), error.what()));
            break;
        }
    }
    done_.insert(event);
}

namespace {

/// Does an act that needs its author only; returns whether `action` is one.
bool has_steered(
    Engine& world,
    const InstanceId& id,
    const std::string& action,
    const std::string& by,
    const std::string& reason
) {
    if (action == "cancel") {
        world.cancel(id, by, reason);
    } else if (action == "abort") {
        world.abort(id, by, reason);
    } else if (action == "pause") {
        world.pause(id, by);
    } else if (action == "resume") {
        world.resume(id, by);
    } else {
        return false;
    }
    return true;
}

}  // namespace

void Player::act_or_throw(const Json& event) {
    Engine& world = process_->world;
    const std::string action = event.at("do").get<std::string>();
    const std::string by = event.value("by", "");
    if (has_steered(world, id_, action, by, event.value("reason", ""))) return;
    if (action == "signal") {
        const std::string request =
            event.value("request", fmt::format("event {}", &event - &events_[0]));
        return world.signal(
            id_,
            event.at("name").get<std::string>(),
            Payload::text(event.value("payload", Json()).dump()),
            request
        );
    }
    if (action == "confirm" || action == "reject") {
        world.decide(
            id_,
            {.verdict = action == "confirm" ? PersonalDecision::Verdict::Confirm
                                            : PersonalDecision::Verdict::Reject,
             .node = event.value("node", ""),
             .by = by,
             .role = event.value("role", ""),
             .comment = event.value("comment", ""),
             .request_id = event.value("request", "")}
        );
        return;
    }
    if (action == "write") {
        world.write(
            id_,
            Payload(event.at("values").dump()),
            {.is_repair = event.value("repair", false),
             .by = by,
             .request_id = fmt::format("event {}", &event - &events_[0])}
        );
        return;
    }
    if (action == "recover") {
        using enum RecoverOptions::Then;
        const bool stops = event.value("then", "rematch") == "stop";
        const auto write = event.find("to_write");
        return world.recover(
            id_,
            write == event.end() ? event.at("to").get<Seq>() : write_number(write->get<int>()),
            {.then = stops ? Stop : Rematch,
             .by = by,
             .request_id = fmt::format("event {}", &event - &events_[0])}
        );
    }
    if (action == "requeue") {
        RequeueOptions options{.skip_compensation = event.value("skip_compensation", false)};
        if (event.contains("input")) options.new_input = event.at("input").dump();
        world.requeue(id_, options);
        return;
    }
    act_on_worker(event);
}

/// The event of a write, by its number: a crash before it adds events, but no writes.
Seq Player::write_number(int number) {
    const auto writes = store_.history(
        {.instance = id_, .limit = number, .types = {HistoryType::AttributesWritten}, .node = {}}
    );
    return std::ssize(writes) == number ? writes.back().seq : 0;
}

void Player::act_on_worker(const Json& event) {
    const std::string action = event.at("do").get<std::string>();
    if (action == "others go on") return let_others_go_on();
    if (action == "evolve") {
        // Both know it at once: others ask for the newest version ten times a second.
        const Definition& later = case_.versions.at(event.at("version").get<std::size_t>() - 2);
        process_->world.register_workflow(later);
        process_->engine->register_workflow(later);
        return;
    }
    if (action == "rematch") {
        process_->world.rematch(
            id_,
            {.by = event.value("by", ""),
             .request_id = fmt::format("event {}", &event - &events_[0])}
        );
        return;
    }
    if (action == "deploy") {
        missing_.erase(event.at("handler").get<std::string>());
        process_.reset();
        return boot();
    }
    throw std::runtime_error(case_.name + ": unknown action " + action);
}

/// The worker loses its connection in the middle of a call. Its lease expires and another worker
/// takes over, while the handler continues and ends too late.
void Player::let_others_go_on() {
    expire_worker();
    Engine other(
        store_,
        handlers_,
        EngineOptions{.worker_id = "other", .threads = 4, .lease = kLease, .clock = &clock_}
    );
    other.poll();
}

bool Player::is_over() {
    const auto found = process_->engine->find(id_);
    return found && found->finished_at != TimePoint{};
}

void Player::act_when_due() {
    for (std::size_t i = 0; i < events_.size(); ++i) {
        const Json& event = events_[i];
        if (!event.contains("at") || done_.contains(i)) continue;
        if (start_ + seconds(event.at("at")) > clock_.now()) return;
        act(i);
    }
}

/// Nothing is due, but after a fault the engine may have to repeat a write, or to find out what it
/// holds.
bool Player::recovers() {
    if (!fault_.has_struck || ++quiet_rounds_ > kQuietRounds) return false;
    clock_.advance(kLease / 4);
    return true;
}

void Player::resume_and_play() {
    process_->world.resume(id_, "");
    quiet_rounds_ = 0;
    play_on();
}

/// Advances to the next moment at which something happens. False: nothing will ever happen.
bool Player::move_on() {
    TimePoint next = kNever;
    for (const TaskRow& task : store_.tasks(id_)) {
        const bool is_served = !missing_.contains(task.handler);
        if (!task.is_parked && is_served) next = std::min(next, task.due);
    }
    for (std::size_t i = 0; i < events_.size(); ++i) {
        if (!events_[i].contains("at") || done_.contains(i)) continue;
        next = std::min(next, start_ + seconds(events_[i].at("at")));
        break;
    }
    if (next == kNever) return recovers();
    const bool is_stuck = next <= clock_.now() && ++stuck_rounds_ % kStuckRounds == 0;
    if (is_stuck) {
        clock_.advance(kLease);
        has_lost_time_ = true;
    }
    // The engine retries failed writes, and two heartbeats report the tasks that the worker holds
    // without knowing it. Time must not leap over them.
    const bool may_repeat = fault_.has_struck && ++rounds_after_fault_ <= kRepeatRounds;
    const TimePoint soon = clock_.now() + (may_repeat ? kRepeatPause : kTick);
    clock_.set(may_repeat ? soon : std::max(next, soon));
    return true;
}

}  // namespace ebb::golden
