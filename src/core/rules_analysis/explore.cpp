#include "core/rules_analysis/explore.h"

#include <algorithm>
#include <memory>
#include <set>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/kernel/decide.h"
#include "core/kernel/state_text.h"
#include "core/kernel/stored_program.h"
#include "core/rules_analysis/past.h"
#include "core/rules_analysis/subject.h"
#include "support/json.h"

namespace ebb::rules_analysis {

namespace {

const TimePoint kNow{std::chrono::seconds(1'700'000'000)};

/// The definition with one call instead of each block.
Definition with_calls(Definition definition) {
    for (Node& node : definition.steps) {
        if (std::holds_alternative<Sequence>(node.kind)) node.kind = Step{};
    }
    return definition;
}

struct Place {
    InstanceState state;
    std::shared_ptr<const Past> past;
    std::vector<std::size_t> next;  ///< one for each event
    std::string ending;             ///< empty: it goes on
};

std::uint64_t sum_of(std::uint64_t a, std::uint64_t b) {
    return a > kWaysMax - b ? kWaysMax : a + b;
}

class Explorer {
 public:
    Explorer(const Definition& definition, const ExploreOptions& options)
        : definition_(with_calls(definition)),
          options_(options),
          program_(compile_stored(definition_)),
          subject_(definition_) {}

    Exploration run() {
        for (std::size_t i = 0; i < subject_.trigger_count(); ++i) {
            outputs_.push_back(outputs_of(i));
        }
        begin();
        for (std::size_t i = 0; i < places_.size() && found_.is_complete; ++i) {
            if (places_[i].ending.empty()) expand(i);
        }
        found_.states = places_.size();
        if (found_.is_complete) count_ways();
        return std::move(found_);
    }

 private:
    Definition definition_;
    ExploreOptions options_;
    std::shared_ptr<const Program> program_;
    Subject subject_;
    InstanceIdentity identity_{
        .id = *InstanceId::parse("01900000-0000-7000-8000-000000000001"), .key = {}
    };
    std::vector<std::vector<Payload>> outputs_;
    std::vector<Place> places_;
    std::unordered_map<std::string, std::size_t> known_;
    Exploration found_;

    /// The values that the transition may write to an attribute; nothing = it is left out.
    std::vector<Payload> values_of(std::size_t trigger, std::size_t attribute) const {
        const auto& writes = subject_.rules().triggers[trigger].writes;
        if (writes) {
            for (const DeclaredWrite& write : *writes) {
                if (write.attribute != subject_.rules().attributes[attribute].name) continue;
                if (!write.values.empty()) return write.values;
            }
        }
        std::vector<Payload> values;
        const Domain& domain = subject_.domains()[attribute];
        if (!subject_.effect(trigger).writes(attribute) || !is_read(attribute)) return values;
        for (std::size_t r = 0; r < domain.size(); ++r) {
            values.push_back(domain.json_of(static_cast<int>(r)));
        }
        return values;
    }

    bool is_read(std::size_t attribute) const {
        for (const auto* list :
             {&subject_.triggers(), &subject_.finals(), &subject_.exceptions()}) {
            for (const Judged& judged : *list) {
                if (judged.when.reads()[attribute]) return true;
            }
        }
        return false;
    }

    /// The members of an output so far, and one more.
    Payload with_attribute(Payload output, std::size_t attribute, const Payload& value) const {
        if (!output.empty()) output += ',';
        append_json_string(output, subject_.rules().attributes[attribute].name);
        output += ':';
        output += value;
        return output;
    }

    std::vector<Payload> outputs_of(std::size_t trigger) const {
        std::vector<Payload> outputs{Payload::text("")};
        for (std::size_t i = 0; i < subject_.attribute_count(); ++i) {
            const std::vector<Payload> values = values_of(trigger, i);
            if (values.empty()) continue;
            std::vector<Payload> more;
            for (const Payload& output : outputs) {
                for (const Payload& value : values) {
                    more.push_back(with_attribute(output, i, value));
                }
            }
            outputs = std::move(more);
            if (outputs.size() <= options_.outputs_max) continue;
            throw Error(
                ErrorCode::InvalidArgument,
                fmt::format(
                    "The transition \"{}\" can have more than {} outputs. List the values that it "
                    "writes in `writes`.",
                    subject_.triggers()[trigger].name,
                    options_.outputs_max
                )
            );
        }
        for (Payload& output : outputs) output = "{" + output + "}";
        return outputs;
    }

    void begin() {
        const Past nothing;
        Decision decision = decide(
            *program_, identity_, {}, event::Started{.input = options_.input}, nothing, kNow
        );
        if (decision.verdict == Decision::Verdict::Refused) {
            throw Error(
                ErrorCode::InvalidArgument,
                "An instance cannot start with this input: " + decision.refusal.message
            );
        }
        place(std::move(decision), nullptr);
    }

    /// Where what two orders of events lead to is the same.
    std::string key_of(const InstanceState& state, const Past& past) const {
        const rules::State& rules = *state.rules;
        std::string key = fmt::format(
            "{}/{}/{}/", static_cast<int>(state.status), rules.is_finishing, rules.exception != 0
        );
        for (const rules::AttributeValue& value : rules.values)
            key.append(value.json).append(1, '\n');
        for (const rules::TriggerMark& mark : rules.marks) {
            key += fmt::format("{},{},{};", mark.fires, mark.was_true, mark.failed != 0);
        }
        std::set<std::string> tokens;
        for (const Token& token : state.tokens) {
            tokens.insert(fmt::format(
                "{},{},{},{}\n",
                token.branch,
                static_cast<int>(token.status),
                token.compensates,
                given_to(token, past)
            ));
        }
        for (const std::string& token : tokens) key += token;
        return key;
    }

    /// What the transition was given of what it may write: a value that equals that does not
    /// count as a write.
    std::string given_to(const Token& token, const Past& past) const {
        const auto trigger = static_cast<std::size_t>(token.branch);
        if (token.fired == 0 || token.branch < 0 || trigger >= subject_.trigger_count()) return {};
        const Json given = Json::parse(past.payload(token.fired), nullptr, false);
        std::string text;
        for (std::size_t i = 0; i < subject_.attribute_count(); ++i) {
            const std::string& name = subject_.rules().attributes[i].name;
            const bool is_written = subject_.effect(trigger).writes(i);
            if (!is_written || !given.is_object() || !given.contains(name)) continue;
            text.append(to_text(given[name])).append(1, ',');
        }
        return text;
    }

    std::string ending_of(const InstanceState& state, const Past& past) const {
        if (state.status == InstanceStatus::Completed) {
            const auto written = past.find_last(HistoryType::AttributesWritten);
            const Json json = written ? Json::parse(written->payload, nullptr, false) : Json();
            const bool is_named = json.is_object() && json.contains("final");
            return "completed" + (is_named ? ": " + json["final"].get<std::string>() : "");
        }
        const auto raised = past.find_last(HistoryType::ExceptionRaised);
        if (raised && (state.rules->exception != 0 || !state.rollbacks.empty() ||
                       is_terminal(state.status))) {
            const Json json = Json::parse(raised->payload, nullptr, false);
            const std::string what = "exception " + json.value("code", std::string("?"));
            const bool is_handled = subject_.rules().on_exception == Rules::OnException::Handle &&
                                    state.status == InstanceStatus::Running;
            return is_handled ? what + ", whose handler is called" : what;
        }
        if (is_terminal(state.status)) return std::string(to_string(state.status));
        if (!state.rollbacks.empty()) return "rolled back";
        if (state.tokens.empty()) return "waits for a write from outside";
        return {};
    }

    std::size_t place(Decision decision, const std::shared_ptr<const Past>& before) {
        auto past = std::make_shared<const Past>(before, std::move(decision.history));
        const auto [at, is_new] = known_.try_emplace(key_of(decision.state, *past), places_.size());
        if (!is_new) return at->second;
        check(decision.state);
        std::string ending = ending_of(decision.state, *past);
        places_.push_back({std::move(decision.state), std::move(past), {}, std::move(ending)});
        found_.is_complete = places_.size() <= options_.states_max;
        return at->second;
    }

    /// The invariants of a state.
    void check(const InstanceState& state) {
        constexpr std::size_t kFaultsMax = 10;
        std::string fault = fault_of(state, *program_);
        if (fault.empty() && state.status == InstanceStatus::Running &&
            state.rules->exception == 0 && !state.rules->is_finishing && state.rollbacks.empty()) {
            fault = unfired_in(state);
        }
        if (fault.empty() || found_.faults.size() >= kFaultsMax) return;
        found_.faults.push_back(
            fault + " Attributes: " + std::string(subject_.program().state_text(*state.rules))
        );
    }

    /// Nothing true stays unfired.
    std::string unfired_in(const InstanceState& state) const {
        const predicate::Row row = subject_.program().row_of(*state.rules);
        for (std::size_t i = 0; i < subject_.trigger_count(); ++i) {
            const rules::Program::Rule& rule = subject_.program().triggers()[i];
            const bool is_plain = rule.mode == Trigger::Mode::Level && rule.is_enabled &&
                                  state.rules->marks[i].failed == 0;
            const auto is_its = [&](const Token& token) {
                return token.branch == static_cast<std::int32_t>(i);
            };
            if (!is_plain || !rule.when.holds(row)) continue;
            if (std::any_of(state.tokens.begin(), state.tokens.end(), is_its)) continue;
            return fmt::format(
                "The condition of \"{}\" is true, but it is not pending.", rule.name
            );
        }
        return {};
    }

    void expand(std::size_t index) {
        const std::vector<Token> tokens = places_[index].state.tokens;
        for (const Token& token : tokens) {
            if (token.status == TokenStatus::WaitingTimer) {
                go(index, event::TimerFired{.token = token.id, .visit = token.visit}, token.due);
                continue;
            }
            for (const Payload& output : outputs_[static_cast<std::size_t>(token.branch)]) {
                go(index,
                   event::StepCompleted{
                       .attempt = present_attempt(token), .output = output, .worker = {}
                   },
                   kNow);
            }
        }
    }

    void go(std::size_t index, const Event& event, TimePoint now) {
        const std::shared_ptr<const Past> past = places_[index].past;
        Decision decision = decide(*program_, identity_, places_[index].state, event, *past, now);
        for (const HistoryEvent& told : decision.history) {
            const bool is_refused =
                told.type == HistoryType::StepRetried || told.type == HistoryType::StepFailed;
            if (!is_refused) continue;
            const Json failure = Json::parse(told.payload, nullptr, false);
            ++found_.refused[failure.is_object() ? failure.value("code", "error") : "error"];
            return;
        }
        const std::size_t next = place(std::move(decision), past);
        places_[index].next.push_back(next);
    }

    /// Places that differ only in what users do not see, such as how often a trigger has fired, are
    /// one ending.
    void add_ending(std::string what, Payload attributes, std::optional<std::uint64_t> ways) {
        const auto same = std::ranges::find_if(found_.endings, [&](const auto& known) {
            return known.what == what && known.attributes == attributes;
        });
        if (same == found_.endings.end()) {
            found_.endings.push_back({std::move(what), std::move(attributes), ways});
        } else if (ways) {
            same->ways = sum_of(*same->ways, *ways);
        }
    }

    /// How many paths lead to each place, in an order in which every place follows those before it.
    void count_ways() {
        std::vector<std::size_t> open_edges(places_.size(), 0);
        for (const Place& each : places_) {
            for (const std::size_t next : each.next) ++open_edges[next];
        }
        std::vector<std::uint64_t> ways(places_.size(), 0);
        std::vector<std::size_t> ready;
        ways[0] = 1;
        if (open_edges[0] == 0) ready.push_back(0);
        std::size_t done = 0;
        while (!ready.empty()) {
            const std::size_t here = ready.back();
            ready.pop_back();
            ++done;
            for (const std::size_t next : places_[here].next) {
                ways[next] = sum_of(ways[next], ways[here]);
                if (--open_edges[next] == 0) ready.push_back(next);
            }
        }
        const bool is_finite = done == places_.size();
        std::uint64_t all = 0;
        for (std::size_t i = 0; i < places_.size(); ++i) {
            const Place& end = places_[i];
            if (!end.next.empty() && end.ending.empty()) continue;
            const auto way = is_finite ? std::optional(ways[i]) : std::nullopt;
            add_ending(
                end.ending.empty() ? "nothing more can happen" : end.ending,
                subject_.program().state_text(*end.state.rules),
                way
            );
            all = sum_of(all, ways[i]);
        }
        if (is_finite) found_.ways = all;
    }
};

}  // namespace

Exploration explore(const Definition& definition, const ExploreOptions& options) {
    return Explorer(definition, options).run();
}

}  // namespace ebb::rules_analysis
