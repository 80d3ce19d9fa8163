#include "core/rules_analysis/search.h"

#include <algorithm>
#include <functional>
#include <utility>

#include <nlohmann/json.hpp>

#include "core/rules/values.h"
#include "core/rules_analysis/settling.h"
#include "support/json.h"

namespace ebb::rules_analysis {

namespace {

using Kind = Happening::Kind;
using Phase = AbstractState::Phase;

/// Begins the key of a node that is an event and not a state.
constexpr char kEvent = '\x7F';
/// In the key of an event: an attribute that it writes whatever it was.
constexpr std::uint8_t kAnything = 0xFF;

std::string key_of(const AbstractState& state) {
    std::string key(1, static_cast<char>(state.phase));
    key += state.marks;
    key.append(state.values.begin(), state.values.end());
    return key;
}

std::string text_of(const Values& values) {
    return {values.begin(), values.end()};
}

bool is_over(Phase phase) {
    return phase == Phase::Completed || phase == Phase::RolledBack;
}

}  // namespace

Search::Search(const Subject& subject, const std::vector<Payload>& starts, SearchLimits limits)
    : subject_(subject),
      limits_(limits),
      fires_(subject.trigger_count(), false),
      together_(subject.trigger_count() * subject.trigger_count(), -1),
      completes_(subject.finals().size(), false),
      blocked_(subject.finals().size(), false) {
    if (!subject.is_small()) {
        note(Gap::Regions);
        return;
    }
    begin(starts);
    start_count_ = state_count_;
    for (std::size_t i = 0; i < keys_.size() && !has_stopped(); ++i) {
        if (is_state(i)) expand(static_cast<std::int32_t>(i));
    }
    if (state_count_ > limits_.states_max) note(Gap::States);
}

/// The first one that stops it is the reason.
void Search::note(Gap gap) {
    if (!has_stopped()) gap_ = gap;
}

bool Search::is_state(std::size_t node) const {
    return keys_[node]->front() != kEvent;
}

bool Search::may_work() {
    ++work_;
    if (state_count_ > limits_.states_max) note(Gap::States);
    if (work_ > limits_.work_max) note(Gap::Work);
    return !has_stopped();
}

AbstractState Search::state(std::size_t index) const {
    const std::string& key = *keys_[index];
    AbstractState state;
    state.phase = static_cast<Phase>(key[0]);
    const std::size_t marks = subject_.trigger_count() + 1;
    state.marks = key.substr(1, marks);
    const std::string values = key.substr(1 + marks);
    state.values.assign(values.begin(), values.end());
    return state;
}

bool Search::contains(const AbstractState& state) const {
    return known_.contains(key_of(state));
}

std::vector<Search::Step> Search::path_to(std::size_t index) const {
    std::vector<Step> path;
    for (auto at = static_cast<std::int32_t>(index); at >= 0;
         at = parents_[static_cast<std::size_t>(at)]) {
        const auto node = static_cast<std::size_t>(at);
        if (is_state(node)) path.push_back({hows_[node], node});
    }
    std::reverse(path.begin(), path.end());
    return path;
}

const Truth& Search::truth_of(const Values& values) {
    const auto [found, is_new] = truths_.try_emplace(text_of(values));
    if (!is_new) return found->second;
    const predicate::Row row = subject_.row_of(values);
    const auto judge = [&](const std::vector<Judged>& conditions, std::vector<Truths>& into) {
        for (const Judged& condition : conditions) into.push_back(condition.when.on(row));
    };
    Truth& truth = found->second;
    judge(subject_.triggers(), truth.triggers);
    judge(subject_.finals(), truth.finals);
    judge(subject_.exceptions(), truth.exceptions);
    judge(subject_.invariants(), truth.invariants);
    judge(subject_.savepoints(), truth.savepoints);
    return truth;
}

void Search::begin(const std::vector<Payload>& starts) {
    if (starts.empty()) return begin_anywhere();
    const Rules& rules = subject_.rules();
    for (const Payload& start : starts) {
        const Json input = Json::parse(start, nullptr, false);
        AbstractState state{
            .values = subject_.defaults(),
            .marks = std::string(subject_.trigger_count() + 1, '\0'),
        };
        for (std::size_t i = 0; i < rules.attributes.size(); ++i) {
            const Attribute& attribute = rules.attributes[i];
            if (!input.is_object() || !input.contains(attribute.name)) continue;
            const auto coerced = rules::coerce(attribute.type, input[attribute.name]);
            const auto datum = rules::datum_of(attribute.type, coerced.json);
            state.values[i] = static_cast<std::uint8_t>(subject_.domains()[i].find(datum));
        }
        settle(-1, std::move(state), nullptr, {Kind::Start});
    }
}

void Search::begin_anywhere() {
    std::vector<std::size_t> free;
    std::size_t product = 1;
    for (std::size_t i = 0; i < subject_.attribute_count(); ++i) {
        if (subject_.is_fixed_at_start(i) || subject_.domains()[i].size() == 1) continue;
        free.push_back(i);
        if (product <= limits_.starts_max) product *= subject_.domains()[i].size();
    }
    const bool are_all = product <= limits_.starts_max;
    if (!are_all) note(Gap::Starts);
    // What differs least from the defaults comes first, so that the paths begin there.
    const std::size_t differences_max = are_all ? free.size() : 1;
    for (std::size_t differences = 0; differences <= differences_max; ++differences) {
        AbstractState state{
            .values = subject_.defaults(),
            .marks = std::string(subject_.trigger_count() + 1, '\0'),
        };
        const std::function<void(std::size_t, std::size_t)> vary = [&](std::size_t first,
                                                                       std::size_t left) {
            if (left == 0) {
                if (may_work()) settle(-1, state, nullptr, {Kind::Start});
                return;
            }
            for (std::size_t i = first; i + left <= free.size() && !has_stopped(); ++i) {
                std::uint8_t& value = state.values[free[i]];
                const std::uint8_t before = value;
                for (std::size_t r = 0; r < subject_.domains()[free[i]].size(); ++r) {
                    value = static_cast<std::uint8_t>(r);
                    if (value != before) vary(i + 1, left - 1);
                }
                value = before;
            }
        };
        vary(0, differences);
    }
}

void Search::expand(std::int32_t index) {
    const AbstractState here = state(static_cast<std::size_t>(index));
    if (is_over(here.phase)) return;
    const std::size_t triggers = subject_.trigger_count();
    for (std::size_t i = 0; i < triggers; ++i) {
        if (here.has(i, Marks::kArmed)) {
            AbstractState begun = here;
            begun.marks[i] = static_cast<char>(begun.marks[i] & ~Marks::kArmed);
            if (is_once(subject_, i)) {
                begun.marks[i] = static_cast<char>(begun.marks[i] | Marks::kFired);
            }
            add(index, begun, {Kind::Time, static_cast<std::int16_t>(i)});
        } else if (here.has(i, Marks::kPending)) {
            end_transition(index, here, i);
        }
    }
    if (here.has(triggers, Marks::kPending)) {
        AbstractState ended = here;
        ended.marks[triggers] = 0;
        happen(index, ended, subject_.handler(), {Kind::Handled});
        // It may fail for good: an operator is awaited.
        add(index, ended, {Kind::Failed});
    }
    const auto& outside = subject_.outside().any;
    const bool may_write = std::find(outside.begin(), outside.end(), true) != outside.end();
    // In an exception even an empty write checks all conditions again.
    if (may_write || here.phase == Phase::Exception) {
        happen(index, here, subject_.outside(), {Kind::Outside});
    }
}

void Search::end_transition(std::int32_t from, const AbstractState& state, std::size_t trigger) {
    const auto number = static_cast<std::int16_t>(trigger);
    AbstractState ended = state;
    ended.marks[trigger] =
        static_cast<char>(ended.marks[trigger] & ~(Marks::kPending | Marks::kArmed));
    happen(from, ended, subject_.effect(trigger), {Kind::Completed, number});
    if (subject_.definition().on_error == Definition::OnError::Exception) {
        fail(from, std::move(ended), trigger);
    }
}

void Search::fail(std::int32_t from, AbstractState state, std::size_t trigger) {
    const Happening how{Kind::Failed, static_cast<std::int16_t>(trigger)};
    char& mark = state.marks[trigger];
    mark = static_cast<char>((mark & ~Marks::kWasTrue) | Marks::kFailed);
    if (is_once(subject_, trigger)) mark = static_cast<char>(mark & ~Marks::kFired);
    const bool is_awaited = has_any(state, Marks::kPending) || state.phase == Phase::Exception;
    if (is_awaited) {
        add(from, state, how);
    } else {
        settle(from, std::move(state), nullptr, how);
    }
}

void Search::happen(
    std::int32_t from, const AbstractState& state, const Effect& effect, Happening how
) {
    if (!may_work()) return;
    AbstractState shared = state;
    for (std::size_t i = 0; i < shared.values.size(); ++i) {
        if (effect.any[i]) shared.values[i] = kAnything;
    }
    std::string key(1, kEvent);
    key += static_cast<char>(how.kind);
    key.append(std::to_string(how.trigger)).append(1, '\0').append(key_of(shared));
    const auto known = known_.find(key);
    if (known != known_.end()) {
        if (from >= 0) edges_.push_back({from, known->second, how});
        return;
    }
    write_all(add_node(std::move(key), from, how), state, effect, how);
}

void Search::write_all(
    std::int32_t event, const AbstractState& state, const Effect& effect, Happening how
) {
    std::vector<std::size_t> written;
    std::vector<std::vector<std::uint8_t>> options;
    for (std::size_t i = 0; i < state.values.size(); ++i) {
        if (!effect.writes(i)) continue;
        written.push_back(i);
        auto& option = options.emplace_back();
        if (effect.any[i]) {
            for (std::size_t r = 0; r < subject_.domains()[i].size(); ++r) {
                option.push_back(static_cast<std::uint8_t>(r));
            }
            continue;
        }
        for (const int region : effect.listed[i]) {
            option.push_back(static_cast<std::uint8_t>(region));
        }
        // A handler may leave it out.
        option.push_back(state.values[i]);
        std::sort(option.begin(), option.end());
        option.erase(std::unique(option.begin(), option.end()), option.end());
    }
    std::vector<std::size_t> at(written.size(), 0);
    while (may_work()) {
        AbstractState next = state;
        for (std::size_t i = 0; i < written.size(); ++i) {
            next.values[written[i]] = options[i][at[i]];
        }
        settle(event, std::move(next), &effect, how);
        std::size_t i = 0;
        while (i < written.size() && ++at[i] == options[i].size()) at[i++] = 0;
        if (i == written.size()) return;
    }
}

void Search::settle(std::int32_t from, AbstractState state, const Effect* effect, Happening how) {
    const Truth& truth = truth_of(state.values);
    Settling settling(subject_, truth, std::move(state), effect, how);
    settling.run();
    if (!settling.is_exhaustive()) note(Gap::Outcomes);
    for (const Settled& settled : settling.settled()) {
        if (!may_work()) return;
        const std::int32_t to = add(from, settled.state, how);
        if (settled.final_condition >= 0) {
            completes_[static_cast<std::size_t>(settled.final_condition)] = true;
        }
        if (settled.is_stuck && how.kind == Kind::Completed) stuck_.push_back({to, how.trigger});
    }
    for (const int final_condition : settling.blocked()) {
        blocked_[static_cast<std::size_t>(final_condition)] = true;
    }
    for (const int fired : settling.fired()) fires_[static_cast<std::size_t>(fired)] = true;
    for (const AbstractState& floor : settling.resumed()) {
        happen(from, floor, subject_.outside(), {Kind::Resumed});
    }
}

std::int32_t Search::add_node(std::string key, std::int32_t from, Happening how) {
    const auto index = static_cast<std::int32_t>(keys_.size());
    const auto [at, is_new] = known_.try_emplace(std::move(key), index);
    if (from >= 0) edges_.push_back({from, at->second, how});
    if (!is_new) return at->second;
    keys_.push_back(&at->first);
    parents_.push_back(from);
    hows_.push_back(how);
    return index;
}

std::int32_t Search::add(std::int32_t from, const AbstractState& state, Happening how) {
    const std::size_t before = keys_.size();
    const std::int32_t index = add_node(key_of(state), from, how);
    if (keys_.size() == before) return index;
    ++state_count_;
    note_together(index, state);
    return index;
}

void Search::note_together(std::int32_t index, const AbstractState& state) {
    std::vector<std::size_t> running;
    for (std::size_t i = 0; i < subject_.trigger_count(); ++i) {
        if (state.has(i, Marks::kPending) && !state.has(i, Marks::kArmed)) running.push_back(i);
    }
    for (const std::size_t a : running) {
        for (const std::size_t b : running) {
            std::int32_t& first = together_[a * subject_.trigger_count() + b];
            if (first < 0) first = index;
        }
    }
}

}  // namespace ebb::rules_analysis
