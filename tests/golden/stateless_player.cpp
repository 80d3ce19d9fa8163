#include "stateless_player.h"

#include <algorithm>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <sstream>
#include <stdexcept>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <ebb/clock.h>
#include <ebb/engine.h>

#include "sim/checker.h"

namespace ebb::golden {

namespace {

constexpr TimePoint kStart{std::chrono::seconds(1'767'225'600)};

Duration seconds(const Json& value) {
    return Duration(static_cast<Duration::rep>(value.get<double>() * 1e6));
}

/// Writes down every event as it is committed.
class Scribe : public Observer {
 public:
    void on_committed(const InstanceSummary& instance, std::span<const HistoryEntry> events)
        override {
        if (!travels) {
            EXPECT_EQ(instance.revision, commits++) << "a version for every commit, and no other";
        }
        for (const HistoryEntry& event : events) {
            text += line(event);
            history.push_back(event);
        }
    }

    std::string text;
    std::vector<HistoryEntry> history;
    std::int64_t commits = 0;
    bool travels = false;

 private:
    static std::string line(const HistoryEntry& entry) {
        const double at = static_cast<double>((entry.at - kStart).count()) / 1e6;
        std::string text = fmt::format("{:>3} {:>8.3f}s {}", entry.seq, at, entry.type);
        if (!entry.node.empty()) text += " " + entry.node;
        if (!entry.path.empty()) text += " in " + entry.path;
        if (entry.attempt > 1) text += fmt::format(" attempt {}", entry.attempt);
        if (entry.ref != 0) text += fmt::format(" of {}", entry.ref);
        if (!entry.payload.empty()) text += " " + entry.payload;
        return text + "\n";
    }
};

class StatelessPlayer {
 public:
    StatelessPlayer(
        const Case& test_case,
        const stateless::HistoryPolicy& policy,
        ManualClock& clock,
        Store* store = nullptr
    )
        : case_(test_case), clock_(clock), scribe_(std::make_shared<Scribe>()) {
        for (const std::string& handler : handlers_of(test_case.definition)) {
            handlers_.add_raw(
                handler, Handler([this, handler](const Payload& input, const StepContext& context) {
                    return call(handler, input, context);
                })
            );
        }
        stateless::EngineOptions options{.history = policy};
        options.clock = &clock_;
        engine_ = std::make_unique<stateless::Engine>(handlers_, options);
        engine_->add(test_case.definition);
        engine_->add_observer(scribe_);
        for (const Json& event : test_case.script.value("events", Json::array())) {
            if (event.contains("at")) timeline_.push_back(event);
        }
        is_all_kept_ = policy.keep == stateless::HistoryPolicy::Keep::All;
        if (store == nullptr) return;
        scribe_->travels = true;
        durable_ = std::make_unique<Engine>(
            *store,
            handlers_,
            EngineOptions{
                .worker_id = "durable",
                .threads = 1,
                .lease = std::chrono::hours(1),
                .clock = &clock_
            }
        );
        durable_->register_workflow(case_.definition);
    }

    std::string play() {
        const Json input = case_.script.value("input", Json::object());
        json_ =
            engine_->start(case_.definition.name, Payload::text(input.dump()), {.key = "golden"})
                .to_json();
        for (int round = 0; round < 10'000; ++round) {
            act_when_due();
            run_what_is_due();
            if (ending_ || (engine_->parse(json_).is_finished() && timeline_.empty())) break;
            if (!move_on()) break;
        }
        return tell();
    }

 private:
    void run_what_is_due() {
        for (int step = 0; step < 100'000; ++step) {
            if (durable_ && !visit_the_store()) return;
            stateless::Snapshot snapshot = engine_->parse(json_);
            if (!durable_ || is_all_kept_) {
                EXPECT_EQ(snapshot.to_json(), json_) << "the round trip changes it";
            }
            const std::int64_t version = snapshot.version();
            snapshot = engine_->step(std::move(snapshot));
            if (snapshot.version() == version) return;
            json_ = snapshot.to_json();
        }
        ADD_FAILURE() << "it never ends";
    }

    /// False: it has ended, here or there.
    bool visit_the_store() {
        if (engine_->parse(json_).is_finished()) return false;
        const InstanceId id = durable_->import_snapshot(json_).id;
        EXPECT_FALSE(durable_->import_snapshot(json_).is_new);
        durable_->run_one();
        if (durable_->find(id)->finished_at != TimePoint{}) {
            ending_ = durable_->show(id);
            return false;
        }
        json_ = durable_->export_instance(id);
        EXPECT_EQ(durable_->export_instance(id), json_) << "an export that is repeated";
        EXPECT_EQ(durable_->find(id)->status, "moved");
        EXPECT_FALSE(durable_->run_one());
        return true;
    }

    Payload call(const std::string& handler, const Payload& input, const StepContext& context) {
        const int turn = ++turns_[handler];
        calls_.push_back(handler);
        const Json outcomes =
            case_.script.value("handlers", Json::object()).value(handler, Json::array());
        if (static_cast<std::size_t>(turn) > outcomes.size()) {
            return context.compensates ? Payload("null") : input;
        }
        const Json& outcome = outcomes[static_cast<std::size_t>(turn - 1)];
        tell_choice(outcome, context);
        return perform(outcome, input);
    }

    Payload perform(const Json& outcome, const Payload& input) {
        if (outcome == "ok" || outcome == "pause") return input;
        const bool is_text = outcome.is_string();
        if (!is_text && outcome.contains("takes")) clock_.advance(seconds(outcome.at("takes")));
        const bool fails = is_text || outcome.contains("fail") || outcome.contains("retry_after");
        if (!fails)
            return outcome.contains("output") ? Payload(outcome.at("output").dump()) : input;
        calls_.back() += "!";
        if (outcome == "fail for good") throw PermanentError("boom", "broken");
        if (is_text) throw std::runtime_error("boom");
        if (outcome.contains("retry_after")) {
            throw RetryAfter("later", seconds(outcome.at("retry_after")));
        }
        const auto message = outcome.at("fail").get<std::string>();
        if (!outcome.contains("details")) throw std::runtime_error(message);
        throw HandlerFailure(message, {.details = outcome.at("details").dump()});
    }

    void act(const Json& event) {
        try {
            json_ = act_or_throw(engine_->parse(json_), event).to_json();
        } catch (const Error& error) {
            refusals_.push_back(fmt::format("{}: {}", to_string(error.code()), error.what()));
        }
    }

    stateless::Snapshot act_or_throw(stateless::Snapshot snapshot, const Json& event) const {
        const auto action = event.at("do").get<std::string>();
        const std::string by = event.value("by", "");
        const std::string reason = event.value("reason", "");
        if (action == "cancel") return engine_->cancel(std::move(snapshot), by, reason);
        if (action == "abort") return engine_->abort(std::move(snapshot), by, reason);
        if (action == "pause") return engine_->pause(std::move(snapshot), by);
        if (action == "resume") return engine_->resume(std::move(snapshot), by);
        if (action == "signal") {
            const auto name = event.at("name").get<std::string>();
            return engine_->signal(
                std::move(snapshot),
                name,
                Payload::text(event.value("payload", Json()).dump()),
                event.value("request", "")
            );
        }
        if (action == "requeue") {
            RequeueOptions options{.skip_compensation = event.value("skip_compensation", false)};
            if (event.contains("input")) options.new_input = event.at("input").dump();
            return engine_->requeue(std::move(snapshot), options);
        }
        PersonalDecision decision{
            .node = event.value("node", ""),
            .by = by,
            .role = event.value("role", ""),
            .comment = event.value("comment", ""),
            .request_id = event.value("request", ""),
        };
        if (action == "reject") decision.verdict = PersonalDecision::Verdict::Reject;
        return engine_->decide(std::move(snapshot), decision);
    }

    void act_when_due() {
        while (!timeline_.empty() && kStart + seconds(timeline_.front().at("at")) <= clock_.now()) {
            const Json event = timeline_.front();
            timeline_.pop_front();
            act(event);
        }
    }

    bool move_on() {
        TimePoint next = engine_->parse(json_).next_due();
        if (!timeline_.empty()) next = std::min(next, kStart + seconds(timeline_.front().at("at")));
        if (next == kNever) return false;
        clock_.set(std::max(next, clock_.now() + std::chrono::milliseconds(1)));
        return true;
    }

    std::string tell() {
        if (ending_) {
            return tell_end(ending_->summary.status, ending_->output, ending_->error);
        }
        const stateless::Snapshot snapshot = engine_->parse(json_);
        if (durable_) {
            return tell_end(snapshot.instance_status(), snapshot.output(), snapshot.error());
        }
        const auto broken = sim::check({
            .definition = definition_to_json(case_.definition).dump(),
            .status = std::string(to_string(snapshot.instance_status())),
            .history = scribe_->history,
            .is_at_rest = false,
            .knows_calls = false,
            .calls = {},
        });
        EXPECT_EQ(fmt::format("{}", fmt::join(broken, "\n")), "") << scribe_->text;
        std::string text = fmt::format("# {}\n", case_.script.at("shows").get<std::string>());
        text += scribe_->text;
        return text + tell_end(snapshot.instance_status(), snapshot.output(), snapshot.error());
    }

    std::string tell_end(InstanceStatus status, const Payload& output, const Payload& error) {
        std::string text = "calls:";
        for (const std::string& name : calls_) text += " " + name;
        text += "\n";
        for (const std::string& refusal : refusals_) text += "refused: " + refusal + "\n";
        text += fmt::format("status: {}\n", to_string(status));
        if (!output.empty()) text += "output: " + output + "\n";
        if (!error.empty()) text += "error: " + error + "\n";
        return text;
    }

    const Case& case_;
    ManualClock& clock_;
    HandlerRegistry handlers_;
    std::shared_ptr<Scribe> scribe_;
    std::unique_ptr<stateless::Engine> engine_;
    std::unique_ptr<Engine> durable_;
    std::optional<InstanceView> ending_;
    bool is_all_kept_ = true;
    std::string json_;
    std::deque<Json> timeline_;
    std::map<std::string, int> turns_;
    std::vector<std::string> calls_;
    std::vector<std::string> refusals_;
};

}  // namespace

bool needs_processes(const Case& test_case) {
    const Json events = test_case.script.value("events", Json::array());
    const bool happens_during_calls = std::any_of(
        events.begin(), events.end(), [](const Json& event) { return event.contains("during"); }
    );
    const Json handlers = test_case.script.value("handlers", Json::object());
    const bool loses_workers =
        std::any_of(handlers.begin(), handlers.end(), [](const Json& outcomes) {
            return std::find(outcomes.begin(), outcomes.end(), "dies") != outcomes.end();
        });
    return happens_during_calls || loses_workers || test_case.script.contains("without");
}

bool needs_watchdog(const std::string& name) {
    static const std::set<std::string> kNames = {
        "deadline_running",
        // The durable engine leaves its watchdog a second before it ends a step that no worker has.
        "graph_paused_step_timeout",
        "pause_step_timeout",
        "timeout_is_retried",
        "timeout_non_idempotent",
        "undo_of_doubt_that_stays",
        "undo_of_timeout_is_unknown",
    };
    return kNames.contains(name);
}

std::string play_stateless(const Case& test_case, const stateless::HistoryPolicy& policy) {
    ManualClock clock(kStart);
    return StatelessPlayer(test_case, policy, clock).play();
}

std::string play_travelling(
    const Case& test_case, const stateless::HistoryPolicy& policy, Store& store, ManualClock& clock
) {
    return StatelessPlayer(test_case, policy, clock, &store).play();
}

std::string only_calls_and_end(const std::string& told) {
    std::istringstream lines(told);
    std::string text;
    for (std::string line; std::getline(lines, line);) {
        const bool is_wanted = line.starts_with("calls:") || line.starts_with("status:") ||
                               line.starts_with("output:") || line.starts_with("error:");
        if (is_wanted) text += line + "\n";
    }
    return text;
}

}  // namespace ebb::golden
