#include "core/rules/write.h"

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "core/expression/expression.h"
#include "core/expression/names.h"
#include "core/rules/values.h"
#include "support/json.h"

namespace ebb::rules {

namespace {

struct Refusal {
    std::string code;
    std::string message;
};

/// What `$expr` reads: the attributes as they are now.
class StateVariables : public Variables {
 public:
    explicit StateVariables(Json state) : state_(std::move(state)) {}

    const Json* find(std::string_view name) const override {
        return name == "state" ? &state_ : nullptr;
    }

    const Json* find_step(std::string_view) const override { return nullptr; }

 private:
    Json state_;
};

constexpr const char* kNoProgress = "no_progress";

bool is_counted(const Program::Rule& rule) {
    return rule.mode == Trigger::Mode::Once || rule.max_fires > 0;
}

void count_fire(const Program::Rule& rule, TriggerMark& mark) {
    if (is_counted(rule)) ++mark.fires;
}

/// One write on its way. The members are the steps of docs/semantics.md, in their order.
class Writing {
 public:
    Writing(const Program& program, const State& state, const Write& write)
        : program_(program), before_(state), write_(write) {
        outcome_.state = state;
    }

    Outcome run() {
        try {
            if (write_.source == Write::Source::Failure) {
                hold_back();
            } else {
                merge();
                check_size();
                release();
                decide();
            }
        } catch (const Refusal& refusal) {
            Outcome refused;
            refused.verdict = Outcome::Verdict::Refused;
            refused.state = before_;
            refused.code = refusal.code;
            refused.message = refusal.message;
            return refused;
        }
        return std::move(outcome_);
    }

 private:
    const Program& program_;
    const State& before_;
    const Write& write_;
    Outcome outcome_;
    predicate::Row row_;

    const Attribute& attribute(int index) const {
        return program_.rules().attributes[static_cast<std::size_t>(index)];
    }

    const Program::Rule& trigger(int index) const {
        return program_.triggers()[static_cast<std::size_t>(index)];
    }

    bool is_pending(int index) const {
        const auto at = static_cast<std::size_t>(index);
        return at < write_.pending.size() && write_.pending[at];
    }

    bool is_armed(int index) const {
        const auto at = static_cast<std::size_t>(index);
        return at < write_.armed.size() && write_.armed[at];
    }

    /// Transitions that wait for their time do not count, because an end does not wait for them;
    /// nor does the handler of an exception, because what ends the exception ends it, too.
    std::vector<std::string_view> running() const {
        std::vector<std::string_view> names;
        for (std::size_t i = 0; i < program_.triggers().size(); ++i) {
            const int index = static_cast<int>(i);
            if (is_pending(index) && !is_armed(index)) names.push_back(trigger(index).name);
        }
        return names;
    }

    /// Armed ones do count, unless this write disarms them.
    bool has_pending() const {
        std::size_t all = 0;
        for (std::size_t i = 0; i < program_.triggers().size(); ++i) {
            if (is_pending(static_cast<int>(i))) ++all;
        }
        return all > outcome_.disarmed.size();
    }

    /// Nothing fires any more.
    void disarm_all() {
        outcome_.armed.clear();
        outcome_.disarmed.clear();
        for (std::size_t i = 0; i < write_.armed.size(); ++i) {
            if (write_.armed[i]) outcome_.disarmed.push_back(static_cast<int>(i));
        }
    }

    /// The trigger whose transition failed fires no more until `release`, and then as if it had not
    /// fired. The others go on.
    void hold_back() {
        if (write_.trigger >= 0) {
            TriggerMark& mark = outcome_.state.marks[static_cast<std::size_t>(write_.trigger)];
            mark.failed = write_.seq;
            mark.was_true = false;
            if (trigger(write_.trigger).mode == Trigger::Mode::Once) mark.fires = 0;
        }
        // What is pending, or an exception, says what comes next.
        if (has_pending() || before_.exception != 0) return;
        decide();
    }

    void release() {
        const bool is_resume = write_.source == Write::Source::Resume;
        const bool releases_all = is_resume || write_.source == Write::Source::Repair ||
                                  write_.source == Write::Source::Handler;
        for (TriggerMark& mark : outcome_.state.marks) {
            if (releases_all) mark.failed = 0;
            if (is_resume) mark.was_true = false;
        }
        for (const Outcome::Change& change : outcome_.changes) {
            for (const int reader : program_.readers(static_cast<std::size_t>(change.attribute))) {
                outcome_.state.marks[static_cast<std::size_t>(reader)].failed = 0;
            }
        }
    }

    // 1 and 2: the values, one attribute after another, on the state as it is now.

    void merge() {
        if (merge_plain()) return;
        const Json values = Json::parse(write_.values, nullptr, false);
        if (values.is_null()) return;
        if (!values.is_object()) {
            throw Refusal{
                "invalid_output",
                "A write must be an object of attributes, such as {\"order_status\": \"paid\"}, "
                "or null for no change."
            };
        }
        const Json given =
            write_.given.empty() ? Json() : Json::parse(write_.given, nullptr, false);
        for (const auto& [name, value] : values.items()) check_attribute(name);
        const bool has_expressions = std::any_of(values.begin(), values.end(), is_expression);
        const StateVariables now(
            has_expressions ? Json::parse(program_.state_text(before_)) : Json()
        );
        for (std::size_t i = 0; i < program_.rules().attributes.size(); ++i) {
            const int index = static_cast<int>(i);
            const Json* wanted = member_of(values, index);
            if (wanted != nullptr) merge_one(index, *wanted, given, now);
        }
    }

    /// A write whose values are canonical at a glance, as nearly all are: trees of JSON would be
    /// most of a transition's cost. False: this write needs them, and nothing was done.
    bool merge_plain() {
        const Rules& rules = program_.rules();
        const auto values = texts_of(rules, write_.values);
        const std::string_view given_text = write_.given;
        const auto given = texts_of(rules, given_text.empty() ? "{}" : given_text);
        if (!values || !given) return false;
        for (std::size_t i = 0; i < values->size(); ++i) {
            const std::string_view wanted = (*values)[i];
            const std::string_view seen = (*given)[i];
            if (wanted.empty()) continue;
            const AttributeType type = rules.attributes[i].type;
            if (!is_plain(type, wanted)) return false;
            if (!seen.empty() && seen != wanted && !is_plain(type, seen)) return false;
        }
        for (std::size_t i = 0; i < values->size(); ++i) {
            const std::string_view wanted = (*values)[i];
            if (!wanted.empty()) change(static_cast<int>(i), wanted, (*given)[i] == wanted);
        }
        return true;
    }

    /// The attribute's member, which may have a name of an earlier version: what was fired then
    /// knows no other.
    const Json* member_of(const Json& values, int index) const {
        if (!values.is_object()) return nullptr;
        const auto found = values.find(attribute(index).name);
        if (found != values.end()) return &*found;
        for (const std::string& earlier : attribute(index).renamed_from) {
            const auto under = values.find(earlier);
            if (under != values.end()) return &*under;
        }
        return nullptr;
    }

    static bool is_expression(const Json& value) {
        return value.is_object() && value.size() == 1 && value.contains("$expr");
    }

    void merge_one(int index, const Json& wanted, const Json& given, const Variables& now) {
        const Attribute& target = attribute(index);
        const Json value = is_expression(wanted) ? computed(target, wanted, now) : wanted;
        const Coerced coerced = coerce(target.type, value);
        if (!coerced.fault.empty()) {
            constexpr std::size_t kShownMax = 60;
            throw Refusal{
                "invalid_value",
                fmt::format(
                    "The attribute \"{}\" ({}) cannot be {}; allowed is {}.",
                    target.name,
                    to_string(target.type),
                    clean_text(to_text(value), kShownMax),
                    coerced.fault
                )
            };
        }
        const Json* seen = is_expression(wanted) ? nullptr : member_of(given, index);
        const bool is_given = seen != nullptr && to_text(*seen) == coerced.json;
        change(index, coerced.json, is_given);
    }

    /// `is_given`: the transition was given this value, so it has not written it.
    void change(int index, std::string_view json, bool is_given) {
        AttributeValue& current = outcome_.state.values[static_cast<std::size_t>(index)];
        if (is_given || current.json == json) return;
        check_right(index);
        if (write_.fired != 0 && current.written > write_.fired) {
            outcome_.overwrote.push_back(index);
        }
        outcome_.changes.push_back({.attribute = index, .before = std::move(current)});
        current = {.json = std::string(json), .written = write_.seq};
    }

    static Json computed(const Attribute& target, const Json& wanted, const Variables& now) {
        try {
            const Json& source = wanted["$expr"];
            if (source.is_string()) {
                return Expression::compile(source.get<std::string>()).evaluate(now);
            }
        } catch (const ExpressionError& error) {
            throw Refusal{
                "expression_error",
                fmt::format("The attribute \"{}\": {}", target.name, error.what())
            };
        }
        throw Refusal{
            "invalid_value",
            fmt::format(
                "The attribute \"{}\": \"$expr\" must be the text of an expression.", target.name
            )
        };
    }

    void check_attribute(const std::string& name) const {
        if (program_.find_known_attribute(name) >= 0) return;
        std::vector<std::string_view> known;
        for (const Attribute& each : program_.rules().attributes) known.push_back(each.name);
        constexpr std::size_t kShownMax = 64;
        throw Refusal{
            "unknown_attribute",
            fmt::format(
                "There is no attribute \"{}\"{}",
                clean_text(name, kShownMax),
                expression::instead_of(name, std::move(known))
            )
        };
    }

    void check_right(int index) const {
        const Attribute& target = attribute(index);
        if (write_.source == Write::Source::Transition) {
            if (trigger(write_.trigger).writes[static_cast<std::size_t>(index)]) return;
            throw Refusal{
                "undeclared_write",
                fmt::format(
                    "The transition \"{}\" wrote the attribute \"{}\", which its \"writes\" does "
                    "not name.",
                    trigger(write_.trigger).name,
                    target.name
                )
            };
        }
        if (write_.source != Write::Source::Outside) return;
        const auto rule = program_.rules().external_writes;
        const bool is_allowed = rule == Rules::ExternalWrites::All ||
                                (rule == Rules::ExternalWrites::Declared && target.is_external);
        if (is_allowed) return;
        throw Refusal{
            "not_allowed",
            rule == Rules::ExternalWrites::None
                ? std::string("The rules allow no writes from outside (external_writes: none).")
                : fmt::format(
                      "The attribute \"{}\" cannot be written from outside: it is not `external`.",
                      target.name
                  )
        };
    }

    void check_size() const {
        if (outcome_.changes.empty()) return;
        const std::size_t size = program_.state_size(outcome_.state);
        if (size <= RulesLimits::kStateBytesMax) return;
        throw Refusal{
            "payload_too_large",
            fmt::format(
                "The attributes would have {} bytes; rules_state_bytes_max allows {}. Keep larger "
                "documents in a table of yours.",
                size,
                RulesLimits::kStateBytesMax
            )
        };
    }

    // 3 to 9: the conditions.

    bool holds(const Predicate& condition, std::string_view kind, std::string_view name) const {
        return value_of(condition, kind, name) == true;
    }

    std::optional<bool> value_of(
        const Predicate& condition, std::string_view kind, std::string_view name
    ) const {
        try {
            return condition.evaluate(row_);
        } catch (const PredicateError& error) {
            throw Refusal{
                "predicate_error",
                fmt::format("The condition of the {} \"{}\" fails: {}", kind, name, error.what())
            };
        }
    }

    void decide() {
        row_ = program_.row_of(outcome_.state);
        outcome_.state.asks_all = false;
        for (const Program::Condition& invariant : program_.invariants()) {
            if (value_of(invariant.when, "invariant", invariant.name) != false) continue;
            throw Refusal{
                "invariant_violated",
                fmt::format(
                    "The invariant \"{}\" would be false: {}.",
                    invariant.name,
                    invariant.when.source()
                )
            };
        }
        outcome_.final_condition = first_that_holds(program_.finals(), "final condition");
        if (outcome_.final_condition >= 0) return end();
        outcome_.state.is_finishing = false;
        const int exception = first_that_holds(program_.exceptions(), "exception");
        if (exception >= 0) {
            const auto at = static_cast<std::size_t>(exception);
            return raise(program_.exceptions()[at].name);
        }
        outcome_.savepoint = reached_savepoint();
        fire();
    }

    /// The first one whose condition has become true with this write; -1 = none.
    int reached_savepoint() const {
        if (program_.savepoints().empty()) return -1;
        const bool is_start = write_.source == Write::Source::Start;
        const predicate::Row before = program_.row_of(before_);
        for (std::size_t i = 0; i < program_.savepoints().size(); ++i) {
            const Program::Condition& savepoint = program_.savepoints()[i];
            const bool is_asked = is_start || reads_a_change(savepoint.when);
            if (!is_asked || !holds(savepoint.when, "savepoint", savepoint.name)) continue;
            if (is_start || !held(savepoint.when, before)) return static_cast<int>(i);
        }
        return -1;
    }

    bool reads_a_change(const Predicate& condition) const {
        const auto is_read = [&](const Outcome::Change& change) {
            return condition.reads()[static_cast<std::size_t>(change.attribute)];
        };
        return std::any_of(outcome_.changes.begin(), outcome_.changes.end(), is_read);
    }

    /// On attributes that a rollback has restored, the condition may even fail.
    static bool held(const Predicate& condition, const predicate::Row& before) {
        try {
            return condition.evaluate(before) == true;
        } catch (const PredicateError&) {
            return false;
        }
    }

    int first_that_holds(const std::vector<Program::Condition>& conditions, std::string_view kind)
        const {
        for (std::size_t i = 0; i < conditions.size(); ++i) {
            if (holds(conditions[i].when, kind, conditions[i].name)) return static_cast<int>(i);
        }
        return -1;
    }

    void end() {
        using enum Rules::FinalWhilePending;
        const std::vector<std::string_view> others = running();
        const bool is_at_end = others.empty();
        const Rules::FinalWhilePending reaction = program_.rules().final_while_pending;
        if (!is_at_end && reaction == Refuse) {
            const auto at = static_cast<std::size_t>(outcome_.final_condition);
            constexpr std::size_t kShownMax = 8;
            const std::size_t shown = std::min(others.size(), kShownMax);
            throw Refusal{
                "final_while_pending",
                fmt::format(
                    "The final condition \"{}\" would hold while other transitions are pending: "
                    "{}{}.",
                    program_.finals()[at].name,
                    fmt::join(others.begin(), others.begin() + static_cast<int>(shown), ", "),
                    shown < others.size() ? ", ..." : ""
                )
            };
        }
        disarm_all();
        outcome_.state.is_finishing = !is_at_end;
        if (is_at_end) {
            outcome_.verdict = Outcome::Verdict::Completed;
        } else {
            outcome_.verdict =
                reaction == Stop ? Outcome::Verdict::Stops : Outcome::Verdict::Finishes;
        }
    }

    void raise(std::string cause) {
        outcome_.verdict = Outcome::Verdict::Exception;
        // A handler that changes nothing would be called again at once.
        const bool is_idle = write_.source == Write::Source::Handler && outcome_.changes.empty();
        outcome_.state.idle_fires = is_idle ? before_.idle_fires + 1 : 0;
        if (outcome_.state.idle_fires >= RulesLimits::kIdleFiresMax) cause = kNoProgress;
        outcome_.cause = std::move(cause);
        outcome_.fired.clear();
        outcome_.savepoint = -1;
        disarm_all();
        // Whatever ends the exception asks all conditions, as if none had been true before, and
        // what would have fired has not.
        for (std::size_t i = 0; i < outcome_.state.marks.size(); ++i) {
            TriggerMark& mark = outcome_.state.marks[i];
            mark.was_true = false;
            mark.fires = std::min(mark.fires, before_.marks[i].fires);
        }
    }

    /// Those whose condition can have another value than at the write before.
    std::vector<bool> asked() const {
        const std::size_t count = program_.triggers().size();
        const bool asks_all =
            write_.source == Write::Source::Start || write_.source == Write::Source::Repair ||
            write_.source == Write::Source::Resume || write_.source == Write::Source::Handler ||
            before_.is_finishing || before_.exception != 0 || before_.asks_all;
        std::vector<bool> asked(count, asks_all);
        if (asks_all) return asked;
        for (const Outcome::Change& change : outcome_.changes) {
            const auto at = static_cast<std::size_t>(change.attribute);
            for (const int reader : program_.readers(at)) {
                asked[static_cast<std::size_t>(reader)] = true;
            }
        }
        if (write_.source == Write::Source::Transition) {
            asked[static_cast<std::size_t>(write_.trigger)] = true;
        }
        return asked;
    }

    /// Is its condition not true, as the guard shows?
    bool is_excluded(std::size_t index, const std::vector<std::uint64_t>& keys) const {
        const Program::Guard& guard = program_.guards()[index];
        if (guard.attribute == Program::Guard::kNone) return false;
        const bool is_other = row_[guard.attribute].is_null ? guard.excludes_null
                                                            : keys[guard.attribute] != guard.key;
        return is_other && !is_armed(static_cast<int>(index));
    }

    void fire() {
        const std::vector<bool> is_asked = asked();
        const std::vector<std::uint64_t> keys = program_.keys_of(row_);
        for (std::size_t i = 0; i < program_.triggers().size(); ++i) {
            if (!is_asked[i] || is_excluded(i, keys)) continue;
            const Program::Rule& rule = program_.triggers()[i];
            if (!rule.is_enabled) {
                // It was armed under an earlier version.
                if (is_armed(static_cast<int>(i))) outcome_.disarmed.push_back(static_cast<int>(i));
                continue;
            }
            if (!fires(static_cast<int>(i))) continue;
            TriggerMark& mark = outcome_.state.marks[i];
            if (rule.max_fires > 0 && mark.fires >= rule.max_fires) return raise("max_fires");
            if (rule.is_delayed) {
                outcome_.armed.push_back(static_cast<int>(i));
                continue;
            }
            count_fire(rule, mark);
            outcome_.fired.push_back(static_cast<int>(i));
        }
        count_idle_fires();
        if (outcome_.state.idle_fires >= RulesLimits::kIdleFiresMax) return raise(kNoProgress);
        if (!outcome_.fired.empty() || !outcome_.armed.empty() || has_pending()) return;
        if (const int failed = last_failed(); failed >= 0) {
            return raise("failed:" + trigger(failed).name);
        }
        if (program_.rules().on_idle == Rules::OnIdle::Wait) return;
        if (write_.source == Write::Source::Start) {
            throw Refusal{
                "no_condition", "No trigger and no final condition holds for these attributes."
            };
        }
        raise("no_condition");
    }

    /// Of the triggers that are held back; -1 when none is.
    int last_failed() const {
        const auto& marks = outcome_.state.marks;
        const auto last = std::max_element(
            marks.begin(),
            marks.end(),
            [](const TriggerMark& a, const TriggerMark& b) { return a.failed < b.failed; }
        );
        const bool is_failed = last != marks.end() && last->failed != 0;
        return is_failed ? static_cast<int>(last - marks.begin()) : -1;
    }

    bool fires(int index) {
        const Program::Rule& rule = trigger(index);
        TriggerMark& mark = outcome_.state.marks[static_cast<std::size_t>(index)];
        if (mark.failed != 0) return false;
        const bool is_true = holds(rule.when, "trigger", rule.name);
        const bool was_true = mark.was_true;
        if (rule.mode == Trigger::Mode::Edge) mark.was_true = is_true;
        if (!is_true && is_armed(index)) outcome_.disarmed.push_back(index);
        if (!is_true || is_pending(index)) return false;
        if (rule.mode == Trigger::Mode::Edge) return !was_true;
        return rule.mode != Trigger::Mode::Once || mark.fires == 0;
    }

    void count_idle_fires() {
        const bool fires_itself =
            write_.source == Write::Source::Transition &&
            std::find(outcome_.fired.begin(), outcome_.fired.end(), write_.trigger) !=
                outcome_.fired.end();
        const bool is_idle = fires_itself && outcome_.changes.empty();
        outcome_.state.idle_fires = is_idle ? outcome_.state.idle_fires + 1 : 0;
    }
};

}  // namespace

void fire_armed(const Program& program, State& state, int trigger) {
    const auto at = static_cast<std::size_t>(trigger);
    count_fire(program.triggers()[at], state.marks[at]);
}

void unfire(const Program& program, State& state, int trigger) {
    const auto at = static_cast<std::size_t>(trigger);
    TriggerMark& mark = state.marks[at];
    if (is_counted(program.triggers()[at]) && mark.fires > 0) --mark.fires;
}

Outcome write(const Program& program, const State& state, const Write& write) {
    return Writing(program, state, write).run();
}

}  // namespace ebb::rules
