#include "golden_case.h"

#include <algorithm>
#include <fstream>
#include <set>
#include <sstream>
#include <stdexcept>

#include <fmt/format.h>

#include <ebb/yaml.h>

#include "store/store.h"

namespace ebb::golden {

namespace {

std::string read_file(const std::filesystem::path& path) {
    std::ifstream file(path);
    if (!file) throw std::runtime_error("cannot read " + path.string());
    std::stringstream text;
    text << file.rdbuf();
    return text.str();
}

Duration seconds(const Json& value) {
    return Duration(static_cast<Duration::rep>(value.get<double>() * 1e6));
}

/// Plays the handlers and the outside world of one case.
class Player {
 public:
    Player(const Case& test_case, Store& store, ManualClock& clock)
        : case_(test_case),
          store_(store),
          clock_(clock),
          start_(clock.now()),
          world_(store, nobody_, {.worker_id = "outside", .clock = &clock}) {
        for (const std::string& handler : Names(test_case)()) {
            handlers_.add(
                handler, Handler([this, handler](const Payload& input, const StepContext& context) {
                    return call(handler, input, context);
                })
            );
        }
        engine_ = std::make_unique<Engine>(
            store,
            handlers_,
            EngineOptions{.worker_id = "worker", .lease = std::chrono::hours(1), .clock = &clock}
        );
        for (const Json& event : test_case.script.value("events", Json::array())) {
            if (event.contains("at")) timeline_.push_back(event);
        }
    }

    std::string play() {
        engine_->register_workflow(case_.definition);
        const Json input = case_.script.value("input", Json::object());
        id_ = engine_->start(case_.definition.name, input.dump()).id;
        for (int round = 0; round < 10'000; ++round) {
            act_when_due();
            engine_->poll();
            if (is_over() && timeline_.empty()) break;
            if (!move_on()) break;
        }
        return tell();
    }

 private:
    /// The handlers that the definition calls, compensations included.
    struct Names {
        explicit Names(const Case& c) { collect(definition_to_json(c.definition)); }

        std::set<std::string> operator()() const { return names; }

        void collect(const Json& json) {
            if (json.is_string()) return;
            if (json.is_object()) {
                if (json.contains("step"))
                    names.insert(json.value("handler", json.at("step").get<std::string>()));
                if (json.contains("compensate")) {
                    const Json& undo = json.at("compensate");
                    names.insert(
                        undo.is_string() ? undo.get<std::string>()
                                         : undo.at("handler").get<std::string>()
                    );
                }
            }
            if (!json.is_object() && !json.is_array()) return;
            for (const Json& inner : json) collect(inner);
            if (json.is_array()) {
                for (const Json& inner : json) {
                    if (inner.is_string()) names.insert(inner.get<std::string>());
                }
            }
        }

        std::set<std::string> names;
    };

    Payload call(const std::string& handler, const Payload& input, const StepContext& context) {
        const int turn = ++turns_[handler];
        calls_.push_back(handler);
        for (const Json& event : case_.script.value("events", Json::array())) {
            if (event.value("during", "") == handler && event.value("call", 1) == turn) act(event);
        }
        const Json outcomes =
            case_.script.value("handlers", Json::object()).value(handler, Json::array());
        if (static_cast<std::size_t>(turn) > outcomes.size()) {
            return context.compensates ? Payload("null") : input;
        }
        return perform(outcomes[static_cast<std::size_t>(turn - 1)], input);
    }

    Payload perform(const Json& outcome, const Payload& input) {
        if (outcome == "ok") return input;
        if (outcome == "fail") {
            calls_.back() += "!";
            throw std::runtime_error("boom");
        }
        if (outcome == "fail for good") {
            calls_.back() += "!";
            throw PermanentError("boom", "broken");
        }
        if (outcome.contains("takes")) clock_.advance(seconds(outcome.at("takes")));
        if (outcome.contains("retry_after")) {
            calls_.back() += "!";
            throw RetryAfter("later", seconds(outcome.at("retry_after")));
        }
        if (outcome.contains("fail")) {
            calls_.back() += "!";
            throw std::runtime_error(outcome.at("fail").get<std::string>());
        }
        return outcome.contains("output") ? outcome.at("output").dump() : input;
    }

    void act(const Json& event) {
        try {
            act_or_throw(event);
        } catch (const Error& error) {
            refusals_.push_back(fmt::format("{}: {}", to_string(error.code()), error.what()));
        }
    }

    void act_or_throw(const Json& event) {
        const std::string action = event.at("do").get<std::string>();
        if (action == "cancel")
            world_.cancel(id_, event.value("by", ""), event.value("reason", ""));
        if (action == "abort") world_.abort(id_, event.value("by", ""), event.value("reason", ""));
        if (action == "pause") world_.pause(id_, event.value("by", ""));
        if (action == "resume") world_.resume(id_, event.value("by", ""));
        if (action == "signal")
            world_.signal(
                id_, event.at("name").get<std::string>(), event.value("payload", Json()).dump()
            );
        if (action == "confirm" || action == "reject") {
            world_.decide(
                id_,
                {.verdict = action == "confirm" ? PersonalDecision::Verdict::Confirm
                                                : PersonalDecision::Verdict::Reject,
                 .node = event.value("node", ""),
                 .by = event.value("by", ""),
                 .role = event.value("role", ""),
                 .comment = event.value("comment", "")}
            );
        }
        if (action == "requeue") {
            RequeueOptions options{.skip_compensation = event.value("skip_compensation", false)};
            if (event.contains("input")) options.new_input = event.at("input").dump();
            world_.requeue(id_, options);
        }
    }

    bool is_over() {
        const auto found = engine_->find(id_);
        return found && found->finished_at != TimePoint{};
    }

    void act_when_due() {
        while (!timeline_.empty() && start_ + seconds(timeline_.front().at("at")) <= clock_.now()) {
            const Json event = timeline_.front();
            timeline_.pop_front();
            act(event);
        }
    }

    /// To the next moment at which something happens. False = nothing ever will.
    bool move_on() {
        TimePoint next = kNever;
        for (const TaskRow& task : store_.tasks(id_)) {
            if (!task.is_parked) next = std::min(next, task.due);
        }
        if (!timeline_.empty()) next = std::min(next, start_ + seconds(timeline_.front().at("at")));
        if (next == kNever) return false;
        clock_.set(std::max(next, clock_.now() + std::chrono::milliseconds(1)));
        return true;
    }

    std::string tell() {
        std::string text = fmt::format("# {}\n", case_.script.at("shows").get<std::string>());
        for (const HistoryEntry& entry : engine_->history(id_)) text += line(entry);
        text += "calls:";
        for (const std::string& name : calls_) text += " " + name;
        text += "\nsteps:";
        const InstanceView view = engine_->show(id_);
        for (const StepView& step : view.steps)
            text += fmt::format(" {}={}", step.node, to_string(step.status));
        text += "\n";
        for (const std::string& refusal : refusals_) text += "refused: " + refusal + "\n";
        for (const WaitingFor& waiting : view.waiting_for)
            text += "waiting: " + waiting.sentence + "\n";
        text += "status: " + view.summary.status + "\n";
        if (!view.output.empty()) text += "output: " + view.output + "\n";
        if (!view.error.empty()) text += "error: " + view.error + "\n";
        return text;
    }

    std::string line(const HistoryEntry& entry) const {
        const double at = static_cast<double>((entry.at - start_).count()) / 1e6;
        std::string text = fmt::format("{:>3} {:>8.3f}s {}", entry.seq, at, entry.type);
        if (!entry.node.empty()) text += " " + entry.node;
        if (!entry.path.empty()) text += " in " + entry.path;
        if (entry.attempt > 1) text += fmt::format(" attempt {}", entry.attempt);
        if (entry.ref != 0) text += fmt::format(" of {}", entry.ref);
        if (!entry.payload.empty()) text += " " + entry.payload;
        return text + "\n";
    }

    const Case& case_;
    Store& store_;
    ManualClock& clock_;
    const TimePoint start_;
    HandlerRegistry nobody_;
    HandlerRegistry handlers_;
    Engine world_;
    std::unique_ptr<Engine> engine_;
    InstanceId id_;
    std::deque<Json> timeline_;
    std::map<std::string, int> turns_;
    std::vector<std::string> calls_;
    std::vector<std::string> refusals_;
};

}  // namespace

std::vector<Case> load_cases(const std::filesystem::path& folder) {
    std::vector<Case> cases;
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
        const std::filesystem::path file = entry.path();
        if (file.extension() != ".yaml") continue;
        std::filesystem::path script = file;
        std::filesystem::path expected = file;
        cases.push_back(
            {.name = file.stem(),
             .definition = parse_definition_yaml(read_file(file), file.filename().string()),
             .script = Json::parse(read_file(script.replace_extension(".script.json"))),
             .expected_file = expected.replace_extension(".expected.txt")}
        );
    }
    std::sort(cases.begin(), cases.end(), [](const Case& a, const Case& b) {
        return a.name < b.name;
    });
    return cases;
}

std::string play(const Case& test_case, Store& store, ManualClock& clock) {
    return Player(test_case, store, clock).play();
}

}  // namespace ebb::golden
