// What writes of attributes mean, read a second time.

#include "sim/reading_rules.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "sim/reading.h"
#include "sim/sql_formula.h"
#include "support/clock.h"

namespace ebb::sim {

namespace {

constexpr std::int64_t kIdleWritesMax = 100;

std::string member_of(const Json& object, const char* key) {
    return object.at(key).get<std::string>();
}

}  // namespace

RulesReading::RulesReading(const Evidence& evidence)
    : evidence_(evidence), definition_(Json::parse(evidence.definition)) {
    for (const Json& attribute : rules().at("attributes")) {
        const std::string name = member_of(attribute, "attribute");
        state_[name] = attribute.value("default", Json());
        written_[name] = 0;
    }
}

void RulesReading::read() {
    for (const Entry& e : evidence_.history) {
        now_ = e.seq;
        payloads_[e.seq] = e.payload.empty() ? Json() : Json::parse(e.payload);
        require(ended_.empty(), "something happens after the end");
        // What a rollback stops, it stops before it begins.
        const bool is_stop = e.type == "step_skipped" || e.type == "step_stopped";
        const bool comes_before =
            is_stop && !expected_.empty() && expected_.front() == "rollback_started";
        if (!disarmed_.empty()) {
            on_disarmed(e);
            continue;
        }
        if (std::exchange(ends_handler_, false)) {
            require(is_stop && e.node == kExceptionHandler, "the handler must end");
            static_cast<void>(pending_of(e));
            if (e.type == "step_stopped") note_undoable(e);
            pending_.erase(e.node);
            continue;
        }
        if (!expected_.empty() && !comes_before) {
            require(expected_.front() == e.type, "expected is " + expected_.front());
            expected_.pop_front();
        }
        read_entry(e);
    }
    require(expected_.empty(), "the last event has no consequence");
    check_end();
    check_calls();
}

void RulesReading::read_entry(const Entry& e) {
    if (read_write_entry(e) || read_step_entry(e) || read_rollback_entry(e)) return;
    read_instance_entry(e);
}

bool RulesReading::read_write_entry(const Entry& e) {
    if (e.type == "started") return on_started(e), true;
    if (e.type == "attributes_written") return on_written(e), true;
    if (e.type == "state_written") return on_state_written(e), true;
    if (e.type == "exception_raised") return on_exception(e), true;
    if (e.type == "timer_started") return on_armed(e), true;
    if (e.type == "savepoint_reached") return on_savepoint(e), true;
    if (e.type == "migrated") return on_migrated(e), true;
    if (e.type != "input_resolved") return false;
    // An operator's new input of a transition that is frozen.
    if (e.node != kExceptionHandler && pending_.contains(e.node)) return true;
    require(e.node == kExceptionHandler, "only the handler of exceptions has an input of its own");
    require(payload(e.seq).at("state") == state_, "the handler is given another state");
    pending_[kExceptionHandler] = {.fired = e.seq};
    return true;
}

void RulesReading::on_started(const Entry& e) {
    for (const auto& [name, value] : payload(e.seq).items()) {
        if (state_.at(name) == value) continue;
        state_[name] = value;
        written_[name] = e.seq;
    }
    write_ = e.seq;
    expect_outcome(decide(true));
}

Json RulesReading::given(const std::string& node) const {
    const Json& fired = payload(pending_.at(node).fired);
    return node == kExceptionHandler ? fired.at("state") : fired;
}

void RulesReading::check_changes(const Entry& e, const Json& written) {
    Json expected = Json::object();
    const Json& output = payload(e.ref);
    const Json seen = given(e.node);
    if (output.is_object()) {
        for (const auto& [name, value] : output.items()) {
            if (value != seen.at(name) && value != state_.at(name)) expected[name] = value;
        }
    }
    require(written.at("values") == expected, "the output is " + output.dump());
    for (const Json& trigger : rules().at("triggers")) {
        if (trigger.at("trigger") != e.node || !trigger.contains("writes")) continue;
        const Json& allowed = trigger.at("writes");
        for (const auto& [name, value] : expected.items()) {
            const bool is_allowed =
                std::find(allowed.begin(), allowed.end(), name) != allowed.end();
            require(is_allowed, name + " is not declared");
        }
    }
}

void RulesReading::change(const Entry& e, const Json& written) {
    for (const auto& [name, value] : written.at("values").items()) {
        const Json was = {state_.at(name), written_.at(name)};
        require(written.at("was").at(name) == was, name + " was something else");
        state_[name] = value;
        written_[name] = e.seq;
        for (const Json& trigger : rules().at("triggers")) {
            const std::string when = member_of(trigger, "when");
            const bool reads = when.find(name + " ") != std::string::npos;
            if (reads) marks_[member_of(trigger, "trigger")].failed = 0;
        }
    }
}

void RulesReading::begin_write(const Entry& e, const Json& written) {
    const bool is_repair = written.value("repair", false);
    require(rollback_.empty(), "nothing is written during a rollback");
    asks_all_ = is_repair || e.node == kExceptionHandler || is_finishing_ || is_exception_;
    if (e.node.empty()) {
        for (const Json& attribute : rules().at("attributes")) {
            const bool is_written =
                written.at("values").contains(member_of(attribute, "attribute"));
            const bool may = is_repair || attribute.value("external", false);
            require(!is_written || may, "it is not external");
        }
    } else {
        check_changes(e, written);
        writes_[e.seq] = {.node = e.node, .was = written.at("was")};
        pending_.erase(e.node);
    }
    last_ = e.node;
    if (is_repair || e.node == kExceptionHandler) {
        for (auto& [name, mark] : marks_) mark.failed = 0;
    }
}

/// What the write leads to, with the triggers' marks that it leaves.
RulesReading::Outcome RulesReading::outcome_of(const Entry& e, const Json& written) {
    if (written.value("resume", false)) {
        require(written.at("values").empty(), "a rollback has ended, and changes nothing more");
        if (!keeps_invariants()) {
            Outcome refused;
            refused.exception = "invariant_violated";
            return refused;
        }
        for (auto& [name, mark] : marks_) mark = {.fires = mark.fires};
    }
    const std::int64_t idle = written.at("values").empty() ? idle_ + 1 : 0;
    const std::map<std::string, Mark> before = marks_;
    Outcome outcome = decide(false);
    const bool fires_itself =
        std::find(outcome.fired.begin(), outcome.fired.end(), e.node) != outcome.fired.end();
    const bool is_called_again = e.node == kExceptionHandler && !outcome.exception.empty();
    idle_ = fires_itself || is_called_again ? idle : 0;
    if (idle_ < kIdleWritesMax) return outcome;
    marks_ = before;
    return raise("no_progress");
}

void RulesReading::on_written(const Entry& e) {
    const Json& written = payload(e.seq);
    begin_write(e, written);
    before_ = state_;
    change(e, written);
    write_ = e.seq;
    const Outcome outcome = outcome_of(e, written);
    require(written.at("fired") == Json(outcome.fired), "it fires " + Json(outcome.fired).dump());
    require(
        written.value("armed", Json::array()) == Json(outcome.armed),
        "it arms " + Json(outcome.armed).dump()
    );
    Json disarmed = Json::array();
    for (const auto& [name, visit] : disarmed_) disarmed.push_back(name);
    require(written.value("disarmed", Json::array()) == disarmed, "it disarms " + disarmed.dump());
    require(
        written.value("final", std::string()) == outcome.final_condition,
        "final is " + outcome.final_condition
    );
    expect_outcome(outcome);
}

const Json* RulesReading::find_final() const {
    if (!rules().contains("final")) return nullptr;
    for (const Json& condition : rules().at("final")) {
        if (holds(condition)) return &condition;
    }
    return nullptr;
}

bool RulesReading::keeps_invariants() const {
    if (!rules().contains("invariants")) return true;
    const Json& all = rules().at("invariants");
    return std::none_of(all.begin(), all.end(), [this](const Json& invariant) {
        return ask_sql(member_of(invariant, "when"), state_) == false;
    });
}

/// From now on, the rules of another version hold. That changes nothing by itself.
void RulesReading::on_migrated(const Entry& e) {
    require(is("evolution", "follow", "pin"), "it stays on its version");
    require(!is_rolled_back() && rollback_.empty(), "what is rolled back follows to no version");
    require(payload(e.seq).at("from") == definition_.value("version", 1), "it has another version");
    const auto to = payload(e.seq).at("to").get<std::size_t>();
    require(to > definition_.value("version", std::size_t{1}), "the version is not newer");
    require(to >= 2 && to - 2 < evidence_.versions.size(), "there is no such version");
    definition_ = Json::parse(evidence_.versions[to - 2]);
    has_followed_ = true;
}

/// Where the rules are others than when it was armed, these decide.
bool RulesReading::may_fire_armed(const std::string& name) const {
    const Json& trigger = trigger_of(name);
    const auto mark = marks_.find(name);
    const std::int64_t fires = mark == marks_.end() ? 0 : mark->second.fires;
    const std::int64_t most = trigger.value("max_fires", std::int64_t{0});
    const bool is_once = trigger.value("mode", std::string()) == "once";
    const bool is_used_up = (is_once && fires > 0) || (most > 0 && fires >= most);
    return trigger.value("enabled", true) && !is_used_up && holds(trigger);
}

RulesReading::Outcome RulesReading::decide(bool is_start) {
    has_followed_ = false;
    require(keeps_invariants(), "an invariant is false");
    if (is_start) asks_all_ = true;
    if (const Json* final_condition = find_final()) {
        disarm_all();
        is_finishing_ = has_pending();
        return {
            .fired = {},
            .armed = {},
            .final_condition = member_of(*final_condition, "final"),
            .exception = {},
            .savepoint = {}
        };
    }
    is_finishing_ = false;
    if (rules().contains("exceptions")) {
        for (const Json& exception : rules().at("exceptions")) {
            if (holds(exception)) return raise(member_of(exception, "exception"));
        }
    }
    Outcome outcome = fire();
    if (outcome.exception.empty()) outcome.savepoint = reached_savepoint(is_start);
    return outcome;
}

/// The first one whose condition this write has made true.
std::string RulesReading::reached_savepoint(bool is_start) const {
    if (!rules().contains("savepoints")) return {};
    for (const Json& savepoint : rules().at("savepoints")) {
        const bool was_true = !is_start && ask_sql(member_of(savepoint, "when"), before_) == true;
        if (holds(savepoint) && !was_true) return member_of(savepoint, "savepoint");
    }
    return {};
}

void RulesReading::on_savepoint(const Entry& e) {
    require(e.node == next_savepoint_ && e.ref == write_, "the write has reached another one");
    savepoint_ = {.name = e.node, .reached = e.seq};
}

bool RulesReading::fires(const Json& trigger) {
    const std::string name = member_of(trigger, "trigger");
    const std::string mode = trigger.value("mode", std::string("level"));
    Mark& mark = marks_[name];
    if (mark.failed != 0) return false;
    const bool is_true = holds(trigger);
    const bool was_true = mark.was_true;
    if (mode == "edge") mark.was_true = is_true;
    const auto pending = pending_.find(name);
    const bool is_armed = pending != pending_.end() && pending->second.due;
    if (!is_true && is_armed) disarm(name);
    if (!is_true || pending_.contains(name)) return false;
    if (mode == "edge") return !was_true;
    return mode != "once" || mark.fires == 0;
}

RulesReading::Outcome RulesReading::fire() {
    Outcome outcome;
    const std::map<std::string, Mark> before = marks_;
    for (const Json& trigger : rules().at("triggers")) {
        const std::string name = member_of(trigger, "trigger");
        if (!trigger.value("enabled", true)) {
            const auto pending = pending_.find(name);
            if (pending != pending_.end() && pending->second.due) disarm(name);
            continue;
        }
        if (!fires(trigger)) continue;
        const std::int64_t most = trigger.value("max_fires", 0);
        if (most > 0 && marks_[name].fires >= most) {
            marks_ = before;
            return raise("max_fires");
        }
        if (trigger.contains("after")) {
            outcome.armed.push_back(name);
            continue;
        }
        if (is_counted(trigger)) ++marks_[name].fires;
        outcome.fired.push_back(name);
    }
    if (!outcome.fired.empty() || !outcome.armed.empty() || has_pending()) return outcome;
    std::string failed;
    std::int64_t last = 0;
    for (const auto& [name, mark] : marks_) {
        if (mark.failed > last) failed = name;
        last = std::max(last, mark.failed);
    }
    if (!failed.empty()) return raise("failed:" + failed);
    if (is("on_idle", "wait", "exception")) return outcome;
    return raise("no_condition");
}

RulesReading::Outcome RulesReading::raise(const std::string& cause) {
    for (auto& [name, mark] : marks_) mark.was_true = false;
    disarm_all();
    return {.fired = {}, .armed = {}, .final_condition = {}, .exception = cause, .savepoint = {}};
}

void RulesReading::disarm(const std::string& trigger) {
    disarmed_[trigger] = pending_.at(trigger).visit;
    pending_.erase(trigger);
}

void RulesReading::disarm_all() {
    std::vector<std::string> armed;
    for (const auto& [name, pending] : pending_) {
        if (pending.due) armed.push_back(name);
    }
    for (const std::string& name : armed) disarm(name);
}

bool RulesReading::is_counted(const Json& trigger) {
    const bool is_once = trigger.value("mode", std::string("level")) == "once";
    return is_once || trigger.value("max_fires", 0) > 0;
}

const Json& RulesReading::trigger_of(const std::string& name) const {
    for (const Json& trigger : rules().at("triggers")) {
        if (trigger.at("trigger") == name) return trigger;
    }
    fail("there is no trigger " + name);
}

void RulesReading::on_armed(const Entry& e) {
    Pending& pending = pending_of(e);
    const auto after = parse_duration(member_of(trigger_of(e.node), "after"));
    require(after.has_value(), "its trigger does not wait");
    require(!pending.is_frozen && !pending.due, "it waits already");
    pending.due = e.at + *after;
}

void RulesReading::on_time(const Entry& e) {
    Pending& pending = pending_of(e);
    require(pending.due && e.at >= *pending.due, "its time has not come");
    require(e.ref == pending.fired, "it refers to something else than what armed it");
    require(payload(e.seq) == state_, "the state is " + state_.dump());
    const bool may_fire = has_followed_ ? may_fire_armed(e.node) : holds(trigger_of(e.node));
    require(may_fire, "its condition is not true");
    if (is_counted(trigger_of(e.node))) ++marks_[e.node].fires;
    pending.due.reset();
    pending.fired = e.seq;
}

void RulesReading::on_disarmed(const Entry& e) {
    const auto found = disarmed_.find(e.node);
    require(e.type == "step_skipped" && found != disarmed_.end(), "a trigger is not disarmed");
    require(found->second == e.visit, "it is another visit");
    disarmed_.erase(found);
}

void RulesReading::expect_outcome(const Outcome& outcome) {
    fired_ = outcome.fired;
    fired_.insert(fired_.end(), outcome.armed.begin(), outcome.armed.end());
    if (!outcome.exception.empty()) {
        exception_ = outcome.exception;
        expected_.emplace_back("exception_raised");
        return;
    }
    is_exception_ = false;
    ends_handler_ = pending_.contains(kExceptionHandler);
    if (is_dead_ && !has_frozen()) is_dead_ = false;
    next_savepoint_ = outcome.savepoint;
    if (!next_savepoint_.empty()) expected_.emplace_back("savepoint_reached");
    if (!fired_.empty()) expected_.emplace_back("state_written");
    if (outcome.final_condition.empty()) return;
    if (!has_pending()) {
        expected_.emplace_back("completed");
    } else if (is("final_while_pending", "stop", "wait")) {
        floor_ = now_;
        rollback_ = "stop";
        is_dead_ = false;
    } else {
        const bool is_refused = is("final_while_pending", "refuse", "wait");
        require(!is_refused, "a final condition holds while others are pending");
    }
}

void RulesReading::on_state_written(const Entry& e) {
    if (!e.node.empty()) return on_time(e);
    require(payload(e.seq) == state_, "the state is " + state_.dump());
    require(e.ref == write_ && !fired_.empty(), "the write before has fired nothing");
    for (const std::string& trigger : fired_) {
        require(!pending_.contains(trigger), trigger + " is already pending");
        pending_[trigger] = {.fired = e.seq};
    }
    fired_.clear();
}

void RulesReading::on_exception(const Entry& e) {
    require(payload(e.seq).at("code") == exception_, "the exception is " + exception_);
    require(e.ref == write_ || e.ref == failure_, "it refers to another write");
    is_exception_ = true;
    if (exception_ == "recovered") return enter_dead_letter();
    const bool is_compensated = is("on_exception", "compensate", "dead_letter") && !is_dead_;
    if (is_compensated) {
        expected_.emplace_back("rollback_started");
    } else if (has_handler() && exception_ != "no_progress") {
        if (is_dead_ && !has_frozen()) is_dead_ = false;
        if (!pending_.contains(kExceptionHandler)) expected_.emplace_back("input_resolved");
    } else {
        enter_dead_letter();
    }
}

bool RulesReading::is(std::string_view option, std::string_view value, std::string_view otherwise)
    const {
    const auto found = rules().find(option);
    return found == rules().end() ? value == otherwise : *found == value;
}

bool RulesReading::has_handler() const {
    return rules().contains("on_exception") && rules().at("on_exception").is_object();
}

bool RulesReading::has_pending() const {
    return pending_.size() > pending_.count(kExceptionHandler);
}

bool RulesReading::has_frozen() const {
    return std::any_of(pending_.begin(), pending_.end(), [](const auto& each) {
        return each.second.is_frozen;
    });
}

bool RulesReading::holds(const Json& condition) const {
    return ask_sql(member_of(condition, "when"), state_) == true;
}

const Json& RulesReading::payload(std::int64_t seq) const {
    const auto found = payloads_.find(seq);
    require(found != payloads_.end(), "it refers to an event that does not exist");
    return found->second;
}

void RulesReading::fail(const std::string& what) const {
    throw Wrong{fmt::format("event {}: {}", now_, what)};
}

}  // namespace ebb::sim
