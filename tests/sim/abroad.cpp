// Instances that leave the cluster as a snapshot, continue outside of it in the stateless
// engine, and come back.

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "call/event_view.h"
#include "sim/simulation.h"
#include "transfer/transfer.h"

namespace ebb::sim {

using namespace std::chrono_literals;

namespace {

constexpr const char* kAbroad = "abroad";

/// Is notified of what the current snapshot went through.
class Scribe : public Observer {
 public:
    explicit Scribe(std::vector<HistoryEntry>& seen) : seen_(seen) {}

    void on_committed(const InstanceSummary& /*instance*/, std::span<const HistoryEntry> events)
        override {
        seen_.insert(seen_.end(), events.begin(), events.end());
    }

 private:
    std::vector<HistoryEntry>& seen_;
};

std::int64_t number_behind(const std::string& key, const std::string& mark) {
    const auto at = key.rfind(mark);
    return at == std::string::npos ? 0 : std::stoll(key.substr(at + mark.size()));
}

}  // namespace

void Simulation::open_abroad() {
    for (const std::string& name : client_->core().program("flow", {})->handlers()) {
        abroad_handlers_.add_raw(name, [this](const Payload& input, const StepContext& context) {
            return call_abroad(input, context);
        });
    }
    stateless::EngineOptions options;
    options.clock = &clock_;
    abroad_ = std::make_unique<stateless::Engine>(abroad_handlers_, options);
    abroad_->add(plan_.definition);
    abroad_->add_observer(std::make_shared<Scribe>(abroad_events_));
}

Payload Simulation::call_abroad(const Payload& input, const StepContext& context) {
    const std::int64_t undoes = number_behind(context.idempotency_key, ":undo:");
    const Invocation invocation{
        .attempt =
            {.visit = undoes == 0 ? number_behind(context.idempotency_key, ":") : 0,
             .attempt = context.attempt,
             .pauses = context.pauses},
        .node = context.step,
        .handler = context.handler,
        .queue = {},
        .idempotency_key = {},
        .compensated = undoes
    };
    Running running = prepare(kAbroad, number_of(context.instance), invocation);
    Payload output;
    try {
        output = behave(running, input, context);
    } catch (...) {
        record(running);
        throw;
    }
    record(running);
    return output;
}

void Simulation::travel(Worker& by, const Disturbance& disturbance) {
    Dice dice(disturbance.pick, 5);
    const InstanceId id = dice.pick(instances_);
    if (is_gone(id)) return;
    if (disturbance.kind == Disturbance::Kind::Export) return take_out(by, id);
    const auto away = away_.find(number_of(id));
    if (away == away_.end() || away->second.text.empty()) return;
    if (disturbance.kind == Disturbance::Kind::Import) return bring_back(by, id);
    for (int steps = dice.between(1, 4); steps > 0; --steps) step_abroad(id);
}

void Simulation::note_request(const InstanceId& id, const char* type) {
    Asked asked;
    asked.instance = number_of(id);
    asked.type = type;
    asked.by = kMover;
    requests_.push_back(std::move(asked));
}

/// A process that is interrupted repeats it some time: the instance may be paused for it.
void Simulation::take_out(Worker& by, const InstanceId& id) {
    note(fmt::format("{} exports i{}", by.id(), number_of(id)));
    note_request(id, "export");
    Away& away = away_[number_of(id)];
    try {
        const std::string text = transfer::export_instance(by.core(), id, {.by = kMover});
        ++result_.requests["export taken"];
        const bool is_other = !away.home.empty() && away.home != text;
        // An import without an answer had come through, and this is another journey.
        const bool was_back = is_other && away.is_leaving;
        if (is_other && !was_back) result_.stuck = "an export that is repeated gives another text";
        away.home = text;
        if (away.text.empty() || was_back) away.text = text;
        if (was_back) away.is_leaving = false;
        return;
    } catch (const Error& error) {
        note(std::string("  refused: ") + error.what());
        ++result_.requests["export refused"];
        const bool is_final = error.code() == ErrorCode::InvalidState;
        if (is_final && away.text.empty()) away_.erase(number_of(id));
    } catch (const testing::SimulatedCrash&) {
        crash(by, 5);
        if (&by == client_.get()) by.start();
    }
}

void Simulation::step_abroad(const InstanceId& id) {
    Away& away = away_.at(number_of(id));
    if (away.is_leaving) return;
    if (abroad_ == nullptr) open_abroad();
    // A snapshot knows milliseconds.
    clock_.set(std::chrono::ceil<std::chrono::milliseconds>(clock_.now()));
    abroad_events_.clear();
    const auto calls = calls_.size();
    const auto counts = counts_;
    const stateless::Snapshot next = abroad_->step(abroad_->parse(away.text));
    if (next.is_finished()) {
        // What has ended does not come back, so this never happened: the process died in it.
        calls_.resize(calls);
        counts_ = counts;
        return;
    }
    note(fmt::format("i{} continues abroad: {}", number_of(id), next.current_node()));
    away.text = next.to_json();
    ++result_.faults["step abroad"];
    note_told(id);
    for (std::size_t i = calls; i < calls_.size(); ++i) {
        for (const HistoryEntry& event : abroad_events_) {
            const bool is_its_end = event.ref == calls_[i].undoes && event.visit != 0;
            if (calls_[i].undoes != 0 && is_its_end) calls_[i].visit = event.visit;
        }
    }
}

void Simulation::bring_back(Worker& by, const InstanceId& id) {
    Away& away = away_.at(number_of(id));
    if (abroad_ == nullptr) open_abroad();
    note(fmt::format("{} imports i{}", by.id(), number_of(id)));
    note_request(id, "import");
    if (!away.is_leaving && away.text != away.home) {
        clock_.set(std::chrono::ceil<std::chrono::milliseconds>(clock_.now()));
        abroad_events_.clear();
        away.text = abroad_->release(abroad_->parse(away.text), kMover).to_json();
        note_told(id);
    }
    // From here on it may be back, though no process has heard so.
    away.is_leaving = true;
    try {
        transfer::import_snapshot(by.core(), away.text, {.by = kMover});
        ++result_.requests["import taken"];
        away_.erase(number_of(id));
    } catch (const Error& error) {
        note(std::string("  refused: ") + error.what());
        ++result_.requests["import refused"];
    } catch (const testing::SimulatedCrash&) {
        crash(by, 5);
        if (&by == client_.get()) by.start();
    }
}

void Simulation::note_told(const InstanceId& id) {
    for (HistoryEntry& event : abroad_events_) {
        told_abroad_[number_of(id)][event.seq] = std::move(event);
    }
}

/// A snapshot drops what is no longer needed, so what happened abroad is what its observers saw;
/// what has come home must be the same.
std::vector<HistoryEntry> Simulation::whole_history(const InstanceId& id) {
    std::map<std::int64_t, HistoryEntry> whole = told_abroad_[number_of(id)];
    for (const HistoryEvent& event : store_->history({.instance = id, .limit = 1'000'000})) {
        const auto [told, is_home] = whole.try_emplace(event.seq, to_entry(event));
        const HistoryEntry& there = told->second;
        const bool is_same =
            there.type == to_string(event.type) && there.node == event.node &&
            there.visit == event.visit && there.attempt == event.attempt &&
            (event.payload.empty() || there.payload.empty() || there.payload == event.payload);
        if (!is_home && !is_same) result_.stuck = "what came home is not what happened abroad";
    }
    std::vector<HistoryEntry> history;
    for (auto& [seq, entry] : whole) history.push_back(std::move(entry));
    return history;
}

/// Faults have stopped: what was begun is brought to its end.
void Simulation::bring_all_back() {
    for (const InstanceId& id : instances_) {
        if (!away_.contains(number_of(id))) continue;
        if (away_.at(number_of(id)).text.empty()) take_out(*client_, id);
        if (away_.contains(number_of(id))) bring_back(*client_, id);
        if (away_.contains(number_of(id))) {
            // It was back, and has been moved out again by an export without an answer.
            take_out(*client_, id);
            if (away_.contains(number_of(id))) bring_back(*client_, id);
        }
        if (away_.contains(number_of(id))) result_.stuck = "an instance does not come back";
    }
}

}  // namespace ebb::sim
