#include "core/kernel/rules_evolution.h"

#include <algorithm>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/kernel/state_text.h"
#include "core/rules/values.h"
#include "support/json.h"

namespace ebb {

namespace {

/// Thrown while a state is being translated: a whole sentence.
struct Obstacle {
    std::string sentence;
};

template <typename... Arguments>
[[noreturn]] void stop_at(fmt::format_string<Arguments...> text, Arguments&&... arguments) {
    throw Obstacle{fmt::format(text, std::forward<Arguments>(arguments)...)};
}

bool may_write(const rules::Program::Rule& rule, int attribute) {
    return rule.may_write_all || rule.writes[static_cast<std::size_t>(attribute)];
}

/// Where the attributes, triggers and nodes of one version are in another one.
class Mapping {
 public:
    Mapping(const Program& from, const Program& to)
        : from_(from), to_(to), old_(*from.rules()), new_(*to.rules()) {}

    const rules::Program& old_rules() const { return old_; }

    const rules::Program& new_rules() const { return new_; }

    /// Of the version before; -1 = the attribute is new.
    int earlier_attribute(std::size_t attribute) const {
        const Attribute& wanted = new_.rules().attributes[attribute];
        if (const int same = old_.find_attribute(wanted.name); same >= 0) return same;
        for (const std::string& name : wanted.renamed_from) {
            if (const int found = old_.find_attribute(name); found >= 0) return found;
        }
        return -1;
    }

    /// -1 = there is none any more.
    int later_attribute(std::size_t attribute) const {
        for (std::size_t i = 0; i < new_.rules().attributes.size(); ++i) {
            if (earlier_attribute(i) == static_cast<int>(attribute)) return static_cast<int>(i);
        }
        return -1;
    }

    NodeIndex node(NodeIndex index) const {
        const std::string& name = from_.node(index).name;
        const NodeIndex found = to_.find(name);
        if (found == kNoNode) stop_at("A token is at \"{}\", which the newer version lacks.", name);
        return found;
    }

    std::vector<LoopTurn> loops(std::vector<LoopTurn> turns) const {
        for (LoopTurn& turn : turns) turn.loop = node(turn.loop);
        return turns;
    }

    /// The index of a trigger or of the handler of exceptions.
    NodeIndex transition(NodeIndex index) const {
        const auto handler = static_cast<NodeIndex>(old_.triggers().size());
        const NodeIndex found = node(index);
        const auto later_handler = static_cast<NodeIndex>(new_.triggers().size());
        const bool fits = index == handler ? found == later_handler : found < later_handler;
        if (!fits) {
            stop_at(
                "\"{}\" is pending, which is not a transition in the newer version.",
                from_.node(index).name
            );
        }
        return found;
    }

    /// What is pending must be able to end as if nothing had changed.
    void check_pending(const Token& token) const {
        const NodeIndex index = token.branch;
        const NodeIndex later = transition(index);
        const Node& was = from_.definition().steps[static_cast<std::size_t>(index)];
        const Node& is = to_.definition().steps[static_cast<std::size_t>(later)];
        const bool is_block = std::holds_alternative<Sequence>(was.kind);
        const bool are_same =
            is_block ? was.kind == is.kind : std::holds_alternative<Step>(is.kind);
        if (!are_same) {
            stop_at(
                "The transition \"{}\" is pending, and has other steps in the newer version.",
                was.name
            );
        }
        const bool has_task =
            token.status == TokenStatus::Ready || token.status == TokenStatus::Retrying;
        if (!is_block && has_task) check_call(was, is);
        if (static_cast<std::size_t>(index) < old_.triggers().size()) check_writes(index, later);
    }

    /// Its task says who may claim it, and a worker may be calling the handler.
    static void check_call(const Node& was, const Node& is) {
        const Step& now = std::get<Step>(was.kind);
        const Step& then = std::get<Step>(is.kind);
        const bool is_same = now.handler == then.handler && now.queue == then.queue &&
                             now.concurrency_key == then.concurrency_key;
        if (is_same) return;
        stop_at(
            "The transition \"{}\" is pending, and has another handler or queue in the newer "
            "version.",
            was.name
        );
    }

    /// What it may write now, it may still write.
    void check_writes(NodeIndex index, NodeIndex later) const {
        const rules::Program::Rule& was = old_.triggers()[static_cast<std::size_t>(index)];
        const rules::Program::Rule& is = new_.triggers()[static_cast<std::size_t>(later)];
        for (std::size_t i = 0; i < old_.rules().attributes.size(); ++i) {
            const int attribute = later_attribute(i);
            const Attribute& before = old_.rules().attributes[i];
            if (!may_write(was, static_cast<int>(i))) continue;
            if (attribute < 0 || !may_write(is, attribute)) {
                stop_at(
                    "The transition \"{}\" is pending and may write \"{}\", which it may not in "
                    "the newer version.",
                    was.name,
                    before.name
                );
            }
            const auto at = static_cast<std::size_t>(attribute);
            if (new_.rules().attributes[at].type == before.type) continue;
            stop_at(
                "The transition \"{}\" is pending and may write \"{}\", whose type is another one "
                "in the newer version.",
                was.name,
                before.name
            );
        }
    }

 private:
    const Program& from_;
    const Program& to_;
    const rules::Program& old_;
    const rules::Program& new_;
};

/// One instance on its way.
class Following {
 public:
    Following(const Program& from, const Program& to, const InstanceState& state)
        : from_(from), to_(to), map_(from, to), before_(state), state_(state) {}

    InstanceState follow(Seq migrated) {
        check_rest();
        for (Token& token : state_.tokens) place(token);
        for (Scope& scope : state_.scopes) scope.node = map_.node(scope.node);
        if (state_.savepoint) {
            state_.savepoint->node = map_.node(state_.savepoint->node);
            state_.savepoint->loops = map_.loops(state_.savepoint->loops);
        }
        follow_records();
        follow_values(migrated);
        follow_marks();
        check_values();
        state_.last_seq = migrated;
        if (std::string fault = fault_of(state_, to_); !fault.empty()) {
            stop_at("In the newer version, {}.", fault);
        }
        return std::move(state_);
    }

    /// The members of the event: attributes that are new, or have another name or value.
    Payload changed_values() const { return "{" + changed_ + "}"; }

 private:
    const Program& from_;
    const Program& to_;
    const Mapping map_;
    const InstanceState& before_;
    InstanceState state_;
    Payload changed_;

    void check_rest() const {
        if (is_terminal(before_.status)) stop_at("The instance has ended.");
        const bool is_stopping =
            std::any_of(before_.tokens.begin(), before_.tokens.end(), [](const Token& token) {
                return token.stopping || token.compensates != 0;
            });
        if (is_stopping || !before_.rollbacks.empty()) {
            stop_at("Something is being rolled back, which must end first.");
        }
    }

    void place(Token& token) const {
        // The branch of a token inside a block counts the block's branches.
        if (token.scope == 0) {
            map_.check_pending(token);
            token.branch = map_.transition(token.branch);
        }
        token.node = map_.node(token.node);
        token.loops = map_.loops(std::move(token.loops));
    }

    void follow_records() {
        std::erase_if(state_.records, [&](StepRecord& record) {
            record.node = to_.find(from_.node(record.node).name);
            return record.node == kNoNode || !to_.is_attempts_read(record.node);
        });
    }

    void note_change(const std::string& name, const Payload& json) {
        if (!changed_.empty()) changed_ += ',';
        append_json_string(changed_, name);
        changed_ += ':';
        changed_ += json;
    }

    void follow_values(Seq migrated) {
        const auto& attributes = map_.new_rules().rules().attributes;
        rules::State& state = *state_.rules;
        std::vector<rules::AttributeValue> values = map_.new_rules().initial_state().values;
        for (std::size_t i = 0; i < attributes.size(); ++i) {
            const int earlier = map_.earlier_attribute(i);
            if (earlier < 0) {
                note_change(attributes[i].name, values[i].json);
                continue;
            }
            const auto at = static_cast<std::size_t>(earlier);
            const Attribute& was = map_.old_rules().rules().attributes[at];
            rules::AttributeValue value = before_.rules->values[at];
            if (was.type != attributes[i].type) convert(attributes[i], value, migrated);
            const bool has_changed =
                was.name != attributes[i].name || was.type != attributes[i].type;
            if (has_changed) note_change(attributes[i].name, value.json);
            values[i] = std::move(value);
        }
        state.values = std::move(values);
    }

    /// Written again, so that no rollback restores a value of the other type.
    static void convert(const Attribute& attribute, rules::AttributeValue& value, Seq migrated) {
        rules::Coerced coerced = converted(attribute.type, value.json);
        if (!coerced.fault.empty()) {
            stop_at(
                "Its attribute \"{}\" cannot be converted to {}.",
                attribute.name,
                to_string(attribute.type)
            );
        }
        value = {.json = std::move(coerced.json), .written = migrated};
    }

    void follow_marks() {
        const auto& triggers = map_.new_rules().triggers();
        std::vector<rules::TriggerMark> marks(triggers.size());
        for (std::size_t i = 0; i < before_.rules->marks.size(); ++i) {
            const std::string& name = map_.old_rules().triggers()[i].name;
            const auto same = std::find_if(triggers.begin(), triggers.end(), [&](const auto& rule) {
                return rule.name == name;
            });
            if (same != triggers.end()) {
                marks[static_cast<std::size_t>(same - triggers.begin())] = before_.rules->marks[i];
            }
        }
        state_.rules->marks = std::move(marks);
        state_.rules->asks_all = true;
    }

    /// No write of the newer version could have led to attributes that it does not allow.
    void check_values() const {
        const rules::Program& program = map_.new_rules();
        const std::size_t size = program.state_text(*state_.rules).size();
        if (size > RulesLimits::kStateBytesMax) {
            stop_at(
                "Its attributes would have {} bytes; rules_state_bytes_max allows {}.",
                size,
                RulesLimits::kStateBytesMax
            );
        }
        const predicate::Row row = program.row_of(*state_.rules);
        for (const rules::Program::Condition& invariant : program.invariants()) {
            try {
                if (invariant.when.evaluate(row) != false) continue;
            } catch (const PredicateError&) {
                // It would refuse every write.
            }
            stop_at(
                "Its attributes break the invariant \"{}\" of the newer version.", invariant.name
            );
        }
    }
};

}  // namespace

rules::Coerced converted(AttributeType type, const Payload& value) {
    Json json = Json::parse(value);
    rules::Coerced coerced = rules::coerce(type, json);
    if (!coerced.fault.empty() && json.is_string()) {
        // A text may be the value as it is written: "12".
        json = Json::parse(json.get_ref<const std::string&>(), nullptr, false);
        if (!json.is_discarded()) coerced = rules::coerce(type, json);
    } else if (!coerced.fault.empty() && type == AttributeType::Text) {
        coerced = rules::coerce(type, Json(to_text(json)));
    }
    return coerced;
}

bool is_followed(const Program& program) {
    return program.rules() != nullptr &&
           program.rules()->rules().evolution == Rules::Evolution::Follow;
}

std::vector<std::string> obstacles_between(const Program& from, const Program& to) {
    std::vector<std::string> obstacles;
    if (to.rules() == nullptr) {
        obstacles.emplace_back("The newer version has steps instead of rules.");
        return obstacles;
    }
    for (const ProgramNode& node : from.nodes()) {
        if (!node.compensate) continue;
        const NodeIndex later = to.find(node.name);
        if (later != kNoNode && to.node(later).compensate) continue;
        obstacles.push_back(fmt::format(
            "The newer version cannot compensate \"{}\": keep it, with \"enabled: false\".",
            node.name
        ));
    }
    return obstacles;
}

RulesMigration migrate(
    const Program& from, const Program& to, const InstanceState& state, TimePoint now
) {
    RulesMigration migration;
    const std::vector<std::string> obstacles = obstacles_between(from, to);
    if (!obstacles.empty()) {
        migration.obstacle = obstacles.front();
        return migration;
    }
    try {
        Following following(from, to, state);
        migration.state = following.follow(state.last_seq + 1);
        HistoryEvent& event = migration.event;
        event.seq = migration.state.last_seq;
        event.type = HistoryType::Migrated;
        event.at = now;
        event.payload = fmt::format(
            "{{\"from\":{},\"to\":{}", from.definition().version, to.definition().version
        );
        const Payload values = following.changed_values();
        if (values != "{}") event.payload += ",\"values\":" + values;
        event.payload += '}';
    } catch (Obstacle& obstacle) {
        migration.obstacle = std::move(obstacle.sentence);
    }
    return migration;
}

}  // namespace ebb
