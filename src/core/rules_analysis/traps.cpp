// What can go wrong in a state that instances can reach. The values that handlers write decide
// whether it does.

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/rules_analysis/findings.h"
#include "core/rules_analysis/graph.h"

namespace ebb::rules_analysis {

namespace {

using Kind = Happening::Kind;
using Phase = AbstractState::Phase;
using Severity = Diagnostic::Severity;

class Traps {
 public:
    Traps(const Subject& subject, const Search& search, Notes& notes)
        : subject_(subject), search_(search), notes_(notes) {}

    void find() {
        find_stuck();
        find_conflicts();
        find_missing_compensations();
        if (!search_.is_complete()) return;
        find_endless();
        find_no_way();
        find_self_refires();
    }

 private:
    const Subject& subject_;
    const Search& search_;
    Notes& notes_;

    const std::string& name_of(std::size_t trigger) const {
        return subject_.triggers()[trigger].name;
    }

    void warn(std::string code, std::string path, std::string message) {
        notes_.note(Severity::Warning, std::move(code), std::move(path), std::move(message));
    }

    /// One for each transition, with the shortest way there.
    void find_stuck() {
        std::set<std::int16_t> known;
        for (const Search::Stuck& stuck : search_.stuck()) {
            if (!known.insert(stuck.trigger).second) continue;
            const auto trigger = static_cast<std::size_t>(stuck.trigger);
            const bool is_listed = is_listed_completely(trigger);
            warn(
                "stuck",
                trigger_path(trigger),
                fmt::format(
                    "After \"{}\" no condition may be true, and the instance is in the exception "
                    "`no_condition`: {}.{}",
                    name_of(trigger),
                    path_text(subject_, search_, static_cast<std::size_t>(stuck.state)),
                    is_listed ? ""
                              : " If it cannot write that, list the values that it writes in "
                                "`writes`."
                )
            );
        }
    }

    bool is_listed_completely(std::size_t trigger) const {
        const auto& any = subject_.effect(trigger).any;
        return std::find(any.begin(), any.end(), true) == any.end();
    }

    void find_conflicts() {
        const auto& triggers = subject_.rules().triggers;
        for (std::size_t a = 0; a < triggers.size(); ++a) {
            for (std::size_t b = a + 1; b < triggers.size(); ++b) {
                if (!triggers[a].writes || !triggers[b].writes) continue;
                const std::int32_t state = search_.together(a, b);
                const std::vector<std::string> common = common_writes(a, b);
                if (state < 0 || common.empty()) continue;
                warn(
                    "write_conflict",
                    fmt::format("/rules/triggers/{}/writes", b),
                    fmt::format(
                        "\"{}\" and \"{}\" can be pending at the same time and both write {}: the "
                        "last one overwrites the first ({}).",
                        name_of(a),
                        name_of(b),
                        fmt::join(common, ", "),
                        path_text(subject_, search_, static_cast<std::size_t>(state))
                    )
                );
                notes_.relate(
                    "The other transition is here.", fmt::format("/rules/triggers/{}/writes", a)
                );
            }
        }
    }

    std::vector<std::string> common_writes(std::size_t a, std::size_t b) const {
        std::vector<std::string> names;
        for (std::size_t i = 0; i < subject_.attribute_count(); ++i) {
            if (!subject_.effect(a).writes(i) || !subject_.effect(b).writes(i)) continue;
            names.push_back("\"" + subject_.rules().attributes[i].name + "\"");
        }
        return names;
    }

    /// A transition that no rollback can undo runs beside one whose failure begins a rollback.
    void find_missing_compensations() {
        if (subject_.definition().on_error != Definition::OnError::Compensate) return;
        const auto step_of = [&](std::size_t trigger) {
            return std::get_if<Step>(&subject_.definition().steps[trigger].kind);
        };
        // One warning for each transition whose failure would leave the others in place.
        std::map<std::size_t, std::vector<std::size_t>> missing;
        for (std::size_t a = 0; a < subject_.trigger_count(); ++a) {
            const Step* const step = step_of(a);
            if (step == nullptr || step->compensate) continue;
            for (std::size_t b = 0; b < subject_.trigger_count(); ++b) {
                const Step* const other = step_of(b);
                const bool is_beside = a != b && search_.together(a, b) >= 0;
                if (!is_beside || other == nullptr || !other->compensate) continue;
                missing[b].push_back(a);
                break;
            }
        }
        for (const auto& [beside, all] : missing) {
            std::vector<std::string> names;
            for (const std::size_t each : all) names.push_back("\"" + name_of(each) + "\"");
            const std::string last = names.back();
            names.pop_back();
            const bool is_one = names.empty();
            const std::string list =
                is_one ? last : fmt::format("{} and {}", fmt::join(names, ", "), last);
            warn(
                "no_compensation",
                trigger_path(all.front()),
                fmt::format(
                    "{0} {1} no compensation and can run beside \"{2}\": if \"{2}\" fails for "
                    "good, everything is rolled back but {0}.",
                    list,
                    is_one ? "has" : "have",
                    name_of(beside)
                )
            );
            for (std::size_t i = 1; i < all.size(); ++i) {
                notes_.relate(
                    fmt::format("\"{}\" has no compensation, either.", name_of(all[i])),
                    trigger_path(all[i])
                );
            }
            notes_.relate("The other transition is here.", trigger_path(beside));
        }
    }

    std::vector<bool> completed_states() const {
        std::vector<bool> completed(search_.node_count(), false);
        for (std::size_t i = 0; i < completed.size(); ++i) {
            completed[i] = search_.is_state(i) && search_.state(i).phase == Phase::Completed;
        }
        return completed;
    }

    /// States in which transitions run forever.
    std::vector<bool> endless_;

    void find_endless() {
        endless_.assign(search_.node_count(), false);
        std::set<std::vector<std::string>> known;
        for (const auto& part : endless_parts(search_)) {
            std::vector<bool> is_member(search_.node_count(), false);
            std::int32_t first = -1;
            bool is_running = true;
            for (const std::int32_t node : part) {
                is_member[static_cast<std::size_t>(node)] = true;
                if (!search_.is_state(static_cast<std::size_t>(node))) continue;
                is_running = is_running && search_.state(static_cast<std::size_t>(node)).phase !=
                                               Phase::Exception;
                if (first < 0) first = node;
            }
            std::vector<std::string> names = transitions_of(is_member);
            if (!is_running || names.empty() || first < 0) continue;
            for (const std::int32_t node : part) endless_[static_cast<std::size_t>(node)] = true;
            if (!known.insert(names).second) continue;
            warn(
                "endless",
                "/rules/triggers",
                fmt::format(
                    "An instance can get into a circle that it cannot leave, whatever the handlers "
                    "write: {} {} forever, and no final condition becomes true. The way there: {}.",
                    fmt::join(names, ", "),
                    names.size() == 1 ? "fires itself" : "fire one another",
                    path_text(subject_, search_, static_cast<std::size_t>(first))
                )
            );
        }
    }

    /// Those that end inside of a part of the graph, sorted.
    std::vector<std::string> transitions_of(const std::vector<bool>& is_member) const {
        std::set<std::string> names;
        for (const Search::Edge& edge : search_.edges()) {
            const bool is_inside = is_member[static_cast<std::size_t>(edge.from)] &&
                                   is_member[static_cast<std::size_t>(edge.to)];
            if (!is_inside || edge.how.kind != Kind::Completed) continue;
            names.insert("\"" + name_of(static_cast<std::size_t>(edge.how.trigger)) + "\"");
        }
        return {names.begin(), names.end()};
    }

    void find_no_way() {
        if (subject_.finals().empty()) {
            return warn(
                "no_way_to_final",
                "/rules",
                "The rules have no final condition, so no instance completes."
            );
        }
        const std::vector<bool> reaches = nodes_that_reach(search_, completed_states());
        for (std::size_t i = 0; i < search_.node_count(); ++i) {
            if (reaches[i] || endless_[i] || !search_.is_state(i)) continue;
            const Phase phase = search_.state(i).phase;
            if (phase != Phase::Running && phase != Phase::Finishing) continue;
            return warn(
                "no_way_to_final",
                "/rules/final",
                fmt::format(
                    "An instance can get into a state from which it cannot reach a final "
                    "condition: {}.",
                    path_text(subject_, search_, i)
                )
            );
        }
    }

    /// A final condition reads what the transition writes.
    bool may_finish(std::size_t trigger) const {
        for (const Judged& judged : subject_.finals()) {
            for (std::size_t i = 0; i < subject_.attribute_count(); ++i) {
                if (judged.when.reads()[i] && subject_.effect(trigger).writes(i)) return true;
            }
        }
        return false;
    }

    /// Whatever it writes, it fires again at once.
    void find_self_refires() {
        std::vector<bool> ends(subject_.trigger_count(), false);
        std::vector<bool> stays(subject_.trigger_count(), true);
        for (const Search::Edge& edge : search_.edges()) {
            if (edge.how.kind != Kind::Completed) continue;
            if (!search_.is_state(static_cast<std::size_t>(edge.to))) continue;
            const auto trigger = static_cast<std::size_t>(edge.how.trigger);
            ends[trigger] = true;
            const AbstractState after = search_.state(static_cast<std::size_t>(edge.to));
            // Another one has made a final condition true.
            if (after.phase == Phase::Completed && !may_finish(trigger)) continue;
            if (!after.has(trigger, Marks::kPending)) stays[trigger] = false;
        }
        for (std::size_t i = 0; i < ends.size(); ++i) {
            const rules::Program::Rule& rule = subject_.program().triggers()[i];
            if (!ends[i] || !stays[i] || rule.is_delayed) continue;
            warn(
                "self_refire",
                trigger_path(i),
                fmt::format(
                    "\"{}\" fires itself again whenever it ends: nothing that it writes makes its "
                    "condition false. Use `mode: edge` or `mode: once`, or let it write an "
                    "attribute that its condition reads.",
                    name_of(i)
                )
            );
        }
    }
};

}  // namespace

void find_traps(const Subject& subject, const Search& search, Notes& notes) {
    Traps(subject, search, notes).find();
}

}  // namespace ebb::rules_analysis
