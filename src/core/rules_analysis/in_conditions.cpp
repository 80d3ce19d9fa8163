// What the conditions of rules say by themselves, without a search.

#include <algorithm>
#include <functional>

#include <fmt/format.h>

#include "core/predicate/judgement.h"
#include "core/rules_analysis/findings.h"

namespace ebb::rules_analysis {

namespace {

using Severity = Diagnostic::Severity;

/// More combinations of regions than this are not tried.
constexpr std::size_t kCombinationsMax = 20'000;

/// Tries all combinations of regions that the conditions can tell apart. False when there are too
/// many, or when `visit` is false for one.
bool for_all(
    const Subject& subject,
    const std::vector<const Condition*>& conditions,
    const std::function<bool(const predicate::Row&)>& visit
) {
    std::vector<std::size_t> read;
    std::size_t product = 1;
    for (std::size_t i = 0; i < subject.attribute_count(); ++i) {
        const bool is_read =
            std::any_of(conditions.begin(), conditions.end(), [&](const Condition* condition) {
                return condition->reads()[i];
            });
        if (!is_read) continue;
        read.push_back(i);
        product *= subject.domains()[i].size();
        if (product > kCombinationsMax) return false;
    }
    Values values = subject.defaults();
    for (const std::size_t i : read) values[i] = 0;
    while (true) {
        if (!visit(subject.row_of(values))) return false;
        std::size_t i = 0;
        while (i < read.size() && ++values[read[i]] == subject.domains()[read[i]].size()) {
            values[read[i++]] = 0;
        }
        if (i == read.size()) return true;
    }
}

bool is_dead(const Subject& subject, const Condition& condition) {
    return for_all(subject, {&condition}, [&](const predicate::Row& row) {
        return !can_hold(condition.on(row));
    });
}

bool is_always_true(const Subject& subject, const Condition& condition) {
    return for_all(subject, {&condition}, [&](const predicate::Row& row) {
        return must_hold(condition.on(row));
    });
}

/// Whenever `a` is true, `b` is.
bool implies(const Subject& subject, const Condition& a, const Condition& b) {
    if (a.predicate().source() == b.predicate().source()) return true;
    return for_all(subject, {&a, &b}, [&](const predicate::Row& row) {
        return !can_hold(a.on(row)) || must_hold(b.on(row));
    });
}

class InConditions {
 public:
    InConditions(const Subject& subject, Notes& notes) : subject_(subject), notes_(notes) {}

    void find() {
        check_list("trigger", "triggers", subject_.triggers(), "dead_rule");
        check_list("final condition", "final", subject_.finals(), "dead_final");
        check_list("exception", "exceptions", subject_.exceptions(), "dead_rule");
        check_list("savepoint", "savepoints", subject_.savepoints(), "dead_rule");
        check_invariants();
        check_shadowed_triggers();
        check_order("final", subject_.finals());
        check_order("exceptions", subject_.exceptions());
        check_exceptions_behind_finals();
        check_attributes();
    }

 private:
    const Subject& subject_;
    Notes& notes_;

    void check_list(
        std::string_view what,
        std::string_view list,
        const std::vector<Judged>& conditions,
        std::string code
    ) {
        for (std::size_t i = 0; i < conditions.size(); ++i) {
            const Condition& when = conditions[i].when;
            const std::string path = condition_path(list, i);
            if (is_dead(subject_, when)) {
                notes_.explain(path);
                notes_.note(
                    Severity::Error,
                    code,
                    path,
                    fmt::format(
                        "The condition of the {} \"{}\" is never true, whatever the values of its "
                        "attributes: {}",
                        what,
                        conditions[i].name,
                        why_dead(when)
                    )
                );
            } else if (is_always_true(subject_, when)) {
                notes_.note(
                    Severity::Warning,
                    "constant_condition",
                    path,
                    fmt::format(
                        "The condition of the {} \"{}\" is always true.", what, conditions[i].name
                    )
                );
            }
        }
    }

    static std::string why_dead(const Condition& when) {
        const auto with_null = predicate::comparisons_with_null(when.predicate());
        if (!with_null.empty()) {
            return fmt::format(
                "`{}` compares with NULL, which is never true; write `is null` or `is not null`.",
                with_null.front()
            );
        }
        const std::vector<bool>& reads = when.reads();
        const bool is_constant = std::find(reads.begin(), reads.end(), true) == reads.end();
        return is_constant ? "it reads none of them." : "its parts contradict each other.";
    }

    void check_invariants() {
        const auto& invariants = subject_.invariants();
        for (std::size_t i = 0; i < invariants.size(); ++i) {
            const Condition& when = invariants[i].when;
            const bool is_always_false = for_all(subject_, {&when}, [&](const predicate::Row& row) {
                return when.on(row) == kFalse;
            });
            const bool is_never_false =
                !is_always_false && for_all(subject_, {&when}, [&](const predicate::Row& row) {
                    return (when.on(row) & kFalse) == 0;
                });
            if (!is_always_false && !is_never_false) continue;
            notes_.note(
                is_always_false ? Severity::Error : Severity::Warning,
                "constant_condition",
                condition_path("invariants", i),
                fmt::format(
                    "The invariant \"{}\" is {}.",
                    invariants[i].name,
                    is_always_false ? "always false, so every write is refused"
                                    : "never false, so it refuses nothing"
                )
            );
        }
    }

    std::string handler_of(std::size_t trigger) const {
        const Node& node = subject_.definition().steps[trigger];
        const auto* step = std::get_if<Step>(&node.kind);
        if (step == nullptr) return {};
        return step->handler.empty() ? node.name : step->handler;
    }

    /// Two triggers call the same handler for the same reason.
    void check_shadowed_triggers() {
        const auto& triggers = subject_.triggers();
        for (std::size_t a = 0; a < triggers.size(); ++a) {
            for (std::size_t b = 0; b < triggers.size(); ++b) {
                const std::string handler = handler_of(a);
                const bool is_other = a != b && !handler.empty() && handler == handler_of(b) &&
                                      !notes_.is_explained(trigger_path(a));
                if (!is_other || !implies(subject_, triggers[a].when, triggers[b].when)) continue;
                // Of two that are equal, the second one.
                if (a < b && implies(subject_, triggers[b].when, triggers[a].when)) continue;
                notes_.note(
                    Severity::Warning,
                    "shadowed",
                    trigger_path(a),
                    fmt::format(
                        "Whenever the condition of \"{}\" is true, that of \"{}\" is, too, and "
                        "both call the handler \"{}\": it is called twice.",
                        triggers[a].name,
                        triggers[b].name,
                        handler
                    )
                );
                notes_.relate("The other condition is here.", trigger_path(b));
                break;
            }
        }
    }

    /// Of final conditions and of exceptions only the first one that is true counts.
    void check_order(std::string_view list, const std::vector<Judged>& conditions) {
        for (std::size_t later = 1; later < conditions.size(); ++later) {
            for (std::size_t first = 0; first < later; ++first) {
                if (hides(conditions[first], conditions[later], list, later)) {
                    notes_.relate("The earlier condition is here.", condition_path(list, first));
                    break;
                }
            }
        }
    }

    void check_exceptions_behind_finals() {
        const auto& exceptions = subject_.exceptions();
        for (std::size_t i = 0; i < exceptions.size(); ++i) {
            for (std::size_t f = 0; f < subject_.finals().size(); ++f) {
                if (hides(subject_.finals()[f], exceptions[i], "exceptions", i)) {
                    notes_.relate(
                        "The final condition is here. Final conditions are checked first.",
                        condition_path("final", f)
                    );
                    break;
                }
            }
        }
    }

    bool hides(const Judged& first, const Judged& later, std::string_view list, std::size_t index) {
        const std::string path = condition_path(list, index);
        if (notes_.is_explained(path) || !implies(subject_, later.when, first.when)) return false;
        notes_.explain(path);
        notes_.note(
            Severity::Warning,
            "shadowed",
            path,
            fmt::format(
                "\"{}\" never counts: whenever it is true, \"{}\" is, too, and the first one that "
                "is true counts.",
                later.name,
                first.name
            )
        );
        return true;
    }

    bool is_written(std::size_t attribute) const {
        if (subject_.outside().writes(attribute)) return true;
        for (std::size_t i = 0; i < subject_.trigger_count(); ++i) {
            if (subject_.effect(i).writes(attribute)) return true;
        }
        return false;
    }

    /// Some `writes` names it.
    bool is_declared(const std::string& name) const {
        for (const Trigger& trigger : subject_.rules().triggers) {
            // What is not declared may be anything.
            if (!trigger.writes) return true;
            for (const DeclaredWrite& write : *trigger.writes) {
                if (write.attribute == name) return true;
            }
        }
        return false;
    }

    bool is_read(std::size_t attribute) const {
        for (const auto* list :
             {&subject_.triggers(),
              &subject_.finals(),
              &subject_.exceptions(),
              &subject_.invariants(),
              &subject_.savepoints()}) {
            for (const Judged& judged : *list) {
                if (judged.when.reads()[attribute]) return true;
            }
        }
        return false;
    }

    void check_attributes() {
        for (std::size_t i = 0; i < subject_.attribute_count(); ++i) {
            const Attribute& attribute = subject_.rules().attributes[i];
            const std::string path = fmt::format("/rules/attributes/{}", i);
            if (!attribute.is_enabled) continue;
            const bool is_used = is_read(i);
            if (!is_used && !is_declared(attribute.name) && !attribute.is_external) {
                notes_.note(
                    Severity::Warning,
                    "unread_attribute",
                    path,
                    fmt::format(
                        "No condition reads the attribute \"{}\", and no transition writes it.",
                        attribute.name
                    )
                );
            }
            if (is_used && !is_written(i) && subject_.is_fixed_at_start(i)) {
                notes_.note(
                    Severity::Warning,
                    "unwritten_attribute",
                    path,
                    fmt::format(
                        "Conditions read the attribute \"{}\", but nothing can write it: no "
                        "transition does, it is not `external`, and the input_schema does not "
                        "have it. It keeps its default.",
                        attribute.name
                    )
                );
            }
        }
    }
};

}  // namespace

void find_in_conditions(const Subject& subject, Notes& notes) {
    InConditions(subject, notes).find();
}

}  // namespace ebb::rules_analysis
