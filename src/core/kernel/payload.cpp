#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include <nlohmann/json.hpp>

#include "core/kernel/transition.h"
#include "support/clock.h"
#include "support/json.h"

namespace ebb::kernel {

bool leaves_doubt(std::string_view code) {
    // The last three: a program that was ended because of what it wrote, one whose end was not
    // seen, and a response of which only a part was read.
    static constexpr std::array<std::string_view, 8> kCodes = {
        "in_doubt",
        "worker_lost",
        "timeout",
        "step_timeout",
        "stopped",
        "output_too_large",
        "exit_unknown",
        "response_too_large",
    };
    return std::find(kCodes.begin(), kCodes.end(), code) != kCodes.end();
}

Payload failure_payload(const Failure& failure, bool in_doubt) {
    std::string text = "{\"code\":";
    append_json_string(text, failure.code);
    text += ",\"message\":";
    append_json_string(text, failure.message);
    if (!failure.details.empty()) {
        text += ",\"details\":";
        text += failure.details;
    }
    if (in_doubt && !leaves_doubt(failure.code)) text += R"(,"outcome":"unknown")";
    text += '}';
    return text;
}

void finish(Transition& t, InstanceStatus status, HistoryEvent event) {
    t.append(std::move(event));
    t.set_status(status);
    t.state.tokens.clear();
    t.state.scopes.clear();
    t.state.rollbacks.clear();
    t.state.signals.clear();
    t.state.savepoint.reset();
    if (t.state.rules) {
        t.state.rules->exception = 0;
        t.state.rules->is_finishing = false;
    }
    t.arrivals.clear();
    t.tasks.clear();
}

namespace {

/// SplitMix64 (Steele, Lea, Flood 2014): spreads ids evenly without any state.
std::uint64_t mix(std::uint64_t value) {
    value += 0x9E3779B97F4A7C15ULL;
    value = (value ^ (value >> 30)) * 0xBF58476D1CE4E5B9ULL;
    value = (value ^ (value >> 27)) * 0x94D049BB133111EBULL;
    return value ^ (value >> 31);
}

/// Evenly spread in [-1, 1), the same for the same arguments.
double spread(const InstanceId& id, Visit visit, int failures) {
    std::uint64_t seed =
        mix(static_cast<std::uint64_t>(visit) * 1'000'003 + static_cast<std::uint64_t>(failures));
    for (const std::uint8_t byte : id.bytes) seed = mix(seed ^ byte);
    return static_cast<double>(seed >> 11) / static_cast<double>(std::uint64_t{1} << 52) - 1.0;
}

}  // namespace

Duration retry_delay(const Backoff& backoff, int failures, const InstanceId& id, Visit visit) {
    const double initial = static_cast<double>(backoff.initial.count());
    double delay = initial;
    if (backoff.strategy == Backoff::Strategy::Linear) delay = initial * failures;
    if (backoff.strategy == Backoff::Strategy::Exponential) {
        delay = initial * std::pow(backoff.factor, failures - 1);
    }
    delay = std::min(delay, static_cast<double>(backoff.max.count()));
    delay *= 1.0 + backoff.jitter * spread(id, visit, failures);
    return Duration(static_cast<Duration::rep>(std::max(0.0, delay)));
}

const Json& TokenVariables::keep(std::string_view name, Json value) const {
    return known_.emplace_back(std::string(name), std::move(value)).second;
}

const Json* TokenVariables::find(std::string_view name) const {
    for (const auto& [known, value] : known_) {
        if (known == name) return &value;
    }
    if (name == "input") return &keep(name, Json::parse(t_.past.payload(token_.input)));
    if (name == "output" && output_ != nullptr) return &keep(name, Json::parse(*output_));
    if (name == "workflow") {
        const Definition& definition = t_.program.definition();
        return &keep(
            name,
            {{"name", definition.name},
             {"version", definition.version},
             {"input", Json::parse(t_.past.payload(1))}}
        );
    }
    if (name == "instance") {
        return &keep(name, {{"id", t_.identity.id.to_string()}, {"key", t_.identity.key}});
    }
    // An input is resolved before its first attempt is counted.
    if (name == "attempt") return &keep(name, std::max(token_.attempt, 1));
    if (name == "now") return &keep(name, format_time(t_.now));
    if (name == "metadata") {
        const Payload& metadata = t_.node_of(token_).metadata;
        return &keep(name, metadata.empty() ? Json::object() : Json::parse(metadata));
    }
    return nullptr;
}

const Json* TokenVariables::find_step(std::string_view name) const {
    for (const auto& [known, value] : known_steps_) {
        if (known == name) return &value;
    }
    const std::optional<Seq> output = t_.past.output_of(name);
    if (!output) return nullptr;
    Json step = {{"output", Json::parse(t_.past.payload(*output))}};
    return &known_steps_.emplace_back(std::string(name), std::move(step)).second;
}

const Json* TokenVariables::find_attempts(std::string_view name) const {
    for (const auto& [known, value] : known_attempts_) {
        if (known == name) return &value;
    }
    const StepRecord* record = t_.state.find_record(t_.program.find(name));
    Json attempts = {{"attempts", record == nullptr ? 0 : record->attempts}};
    if (record != nullptr && record->failure != 0) {
        const Json failure = Json::parse(t_.past.payload(record->failure));
        Json error = Json::object();
        for (const char* key : {"code", "message", "details"}) {
            if (failure.contains(key)) error[key] = failure[key];
        }
        attempts["error"] = std::move(error);
    }
    return &known_attempts_.emplace_back(std::string(name), std::move(attempts)).second;
}

}  // namespace ebb::kernel

namespace ebb {

Outcome outcome_of(const HistoryEvent& event) {
    if (event.type == HistoryType::StepCompleted) return Outcome::Completed;
    const Json details = Json::parse(event.payload, nullptr, false);
    if (!details.is_object()) return Outcome::Unknown;
    if (event.type == HistoryType::StepStopped) {
        return details.value("outcome", "") == "failed" ? Outcome::Failed : Outcome::Unknown;
    }
    const bool is_unknown = kernel::leaves_doubt(details.value("code", "")) ||
                            details.value("outcome", "") == "unknown";
    return is_unknown ? Outcome::Unknown : Outcome::Failed;
}

}  // namespace ebb
