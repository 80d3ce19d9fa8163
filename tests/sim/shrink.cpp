#include "sim/shrink.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "core/kernel/program.h"
#include "sim/flow.h"
#include "sim/simplify.h"

namespace ebb::sim {

namespace {

/// Workers and scripts know only the handlers that exist.
void forget_handlers(Plan& plan) {
    const auto program = Program::compile(plan.definition);
    const auto& names = program->handlers();
    const std::set<std::string> known(names.begin(), names.end());
    for (auto& handlers : plan.workers) {
        std::erase_if(handlers, [&](const std::string& name) { return !known.contains(name); });
    }
    std::erase_if(plan.scripts, [&](const auto& script) { return !known.contains(script.first); });
}

/// Removing conditions leads to endless loops, which are not a smaller case of the same mistake.
bool is_endless(const std::string& what) {
    return what.find("does not come to rest") != std::string::npos;
}

class Shrinker {
 public:
    Shrinker(const Plan& plan, const Judge& judge, int runs_max)
        : best_(plan), judge_(judge), runs_left_(runs_max), runs_max_(runs_max) {
        what_ = judge_(best_);
    }

    Shrunk shrink() {
        bool has_improved = !what_.empty();
        while (has_improved && runs_left_ > 0) {
            has_improved = shrink_disturbances();
            has_improved |= shrink_definition();
            has_improved |= shrink_crowd();
            has_improved |= shrink_scripts();
            has_improved |= shrink_time();
        }
        return {.plan = std::move(best_), .what = what_, .runs = runs_max_ - runs_left_};
    }

 private:
    /// True: the candidate still breaks a rule and is the best so far.
    bool take(Plan candidate) {
        if (runs_left_ == 0) return false;
        --runs_left_;
        std::string what = judge_(candidate);
        if (what.empty() || is_endless(what) != is_endless(what_)) return false;
        best_ = std::move(candidate);
        what_ = std::move(what);
        return true;
    }

    template <class Change>
    bool take_changed(Change change) {
        Plan candidate = best_;
        change(candidate);
        return take(std::move(candidate));
    }

    /// Removes halves, quarters and finally single elements of the list that `list` yields.
    template <class List>
    bool shrink_list(List list, std::size_t least) {
        bool has_improved = false;
        for (std::size_t chunk = list(best_).size(); chunk > 0; chunk /= 2) {
            std::size_t at = 0;
            while (at < list(best_).size() && runs_left_ > 0) {
                const std::size_t size = list(best_).size();
                const std::size_t end = std::min(at + chunk, size);
                if (size - (end - at) < least) break;
                const bool is_taken = take_changed([&](Plan& plan) {
                    auto& elements = list(plan);
                    const auto begin = elements.begin();
                    elements.erase(
                        begin + static_cast<std::ptrdiff_t>(at),
                        begin + static_cast<std::ptrdiff_t>(end)
                    );
                });
                has_improved |= is_taken;
                if (!is_taken) at = end;
            }
        }
        return has_improved;
    }

    bool shrink_disturbances() {
        return shrink_list([](Plan& plan) -> auto& { return plan.disturbances; }, 0);
    }

    bool shrink_crowd() {
        bool has_improved = shrink_list([](Plan& plan) -> auto& { return plan.inputs; }, 1);
        has_improved |= shrink_list([](Plan& plan) -> auto& { return plan.workers; }, 1);
        const auto all = Program::compile(best_.definition)->handlers();
        for (std::size_t i = 0; i < best_.workers.size(); ++i) {
            if (best_.workers[i].size() == all.size()) continue;
            has_improved |= take_changed([&](Plan& plan) { plan.workers[i] = all; });
        }
        return has_improved;
    }

    bool shrink_scripts() {
        bool has_improved = false;
        const auto scripts = best_.scripts;
        for (const auto& [handler, calls] : scripts) {
            has_improved |= take_changed([&](Plan& plan) { plan.scripts.erase(handler); }) ||
                            shrink_script(handler);
        }
        return has_improved;
    }

    bool shrink_script(const std::string& handler) {
        bool has_improved =
            shrink_list([&](Plan& plan) -> auto& { return plan.scripts.at(handler); }, 1);
        for (std::size_t i = 0; i < best_.scripts.at(handler).size(); ++i) {
            if (best_.scripts.at(handler)[i] == Behaviour::Complete) continue;
            has_improved |= take_changed([&](Plan& plan) {
                plan.scripts.at(handler)[i] = Behaviour::Complete;
            });
        }
        return has_improved;
    }

    bool shrink_time() {
        bool has_improved = false;
        if (!best_.queues.empty()) {
            has_improved |= take_changed([](Plan& p) { p.queues.clear(); });
        }
        if (best_.goes_on) has_improved |= take_changed([](Plan& p) { p.goes_on = false; });
        if (best_.percent_helpful > 0) {
            has_improved |= take_changed([](Plan& p) { p.percent_helpful = 0; });
        }
        if (best_.seconds_max > 1) has_improved |= take_changed([](Plan& p) { p.seconds_max = 1; });
        while (best_.ticks > 0 && take_changed([](Plan& p) { p.ticks /= 2; })) {
            has_improved = true;
        }
        return has_improved;
    }

    bool shrink_definition() {
        bool has_improved = false;
        std::size_t next = 0;
        while (runs_left_ > 0) {
            const Json present = definition_to_json(best_.definition);
            std::optional<Json> simpler = simplify(present, next++);
            if (!simpler) return has_improved;
            Plan candidate = best_;
            try {
                candidate.definition = definition_from_json(*simpler);
            } catch (const Error&) {
                continue;
            }
            forget_handlers(candidate);
            // The same number names the next part now.
            if (take(std::move(candidate))) {
                has_improved = true;
                --next;
            }
        }
        return has_improved;
    }

    Plan best_;
    const Judge& judge_;
    int runs_left_;
    const int runs_max_;
    std::string what_;
};

}  // namespace

Shrunk shrink(const Plan& plan, const Judge& judge, int runs_max) {
    return Shrinker(plan, judge, runs_max).shrink();
}

int count_nodes(const Plan& plan) {
    return count_nodes(definition_to_json(plan.definition).at("steps"));
}

}  // namespace ebb::sim
