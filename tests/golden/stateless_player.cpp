#include "stateless_player.h"

#include <algorithm>
#include <deque>
#include <map>
#include <memory>
#include <stdexcept>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <ebb/clock.h>

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
        EXPECT_EQ(instance.revision, commits++) << "a version for every commit, and no other";
        for (const HistoryEntry& event : events) {
            text += line(event);
            history.push_back(event);
        }
    }

    std::string text;
    std::vector<HistoryEntry> history;
    std::int64_t commits = 0;

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
    StatelessPlayer(const Case& test_case, const stateless::HistoryPolicy& policy)
        : case_(test_case), scribe_(std::make_shared<Scribe>()) {
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
    }

    std::string play() {
        const Json input = case_.script.value("input", Json::object());
        json_ = engine_->start(case_.definition.name, input.dump(), {.key = "golden"}).to_json();
        for (int round = 0; round < 10'000; ++round) {
            act_when_due();
            run_what_is_due();
            if (engine_->parse(json_).is_finished() && timeline_.empty()) break;
            if (!move_on()) break;
        }
        return tell();
    }

 private:
    void run_what_is_due() {
        for (int step = 0; step < 100'000; ++step) {
            stateless::Snapshot snapshot = engine_->parse(json_);
            EXPECT_EQ(snapshot.to_json(), json_) << "the round trip changes it";
            const std::int64_t version = snapshot.version();
            snapshot = engine_->step(std::move(snapshot));
            if (snapshot.version() == version) return;
            json_ = snapshot.to_json();
        }
        ADD_FAILURE() << "it never ends";
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
        if (!fails) return outcome.contains("output") ? outcome.at("output").dump() : input;
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
                event.value("payload", Json()).dump(),
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
        const stateless::Snapshot snapshot = engine_->parse(json_);
        const auto broken = sim::check({
            .definition = definition_to_json(case_.definition).dump(),
            .status = std::string(snapshot.instance_status()),
            .history = scribe_->history,
            .is_at_rest = false,
            .knows_calls = false,
            .calls = {},
        });
        EXPECT_EQ(fmt::format("{}", fmt::join(broken, "\n")), "") << scribe_->text;
        std::string text = fmt::format("# {}\n", case_.script.at("shows").get<std::string>());
        text += scribe_->text + "calls:";
        for (const std::string& name : calls_) text += " " + name;
        text += "\n";
        for (const std::string& refusal : refusals_) text += "refused: " + refusal + "\n";
        text += fmt::format("status: {}\n", snapshot.instance_status());
        if (!snapshot.output().empty()) text += "output: " + snapshot.output() + "\n";
        if (!snapshot.error().empty()) text += "error: " + snapshot.error() + "\n";
        return text;
    }

    const Case& case_;
    ManualClock clock_{kStart};
    HandlerRegistry handlers_;
    std::shared_ptr<Scribe> scribe_;
    std::unique_ptr<stateless::Engine> engine_;
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

std::string play_stateless(const Case& test_case, const stateless::HistoryPolicy& policy) {
    return StatelessPlayer(test_case, policy).play();
}

}  // namespace ebb::golden
