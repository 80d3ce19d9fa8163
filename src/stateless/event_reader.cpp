#include "stateless/event_reader.h"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "stateless/check.h"

namespace ebb::stateless {

namespace {

constexpr std::int64_t kMillisecondsMax = 253'402'300'800'000;  // the year 10000
constexpr std::int64_t kAttemptMax = std::numeric_limits<std::int32_t>::max();

bool read_written_type(JsonReader& json, Kept& event) {
    std::string_view name;
    const auto type = json.plain_string(name) ? parse_history_type(name) : std::nullopt;
    // Errors are written otherwise, and what is usual is not said.
    if (!type || is_error(*type) || *type == HistoryType::StepCompleted) return false;
    event.type = *type;
    return true;
}

/// What follows on the output. Inlined, so that the place of `json` is in a register.
[[gnu::always_inline]] inline bool read_written_members(JsonReader& json, Kept& event) {
    std::int64_t timestamp = 0;
    std::int64_t attempt = 0;
    const bool has_all = json.follows(R"(,"timestamp":)") && json.plain_integer(timestamp) &&
                         json.follows(R"(,"attempt":)") && json.plain_integer(attempt) &&
                         json.follows(R"(,"seq":)") && json.plain_integer(event.seq);
    if (!has_all || timestamp > kMillisecondsMax || attempt > kAttemptMax) return false;
    event.type = HistoryType::StepCompleted;
    if (json.follows(R"(,"type":)") && !read_written_type(json, event)) return false;
    const bool has_visit = json.follows(R"(,"visit":)");
    if (has_visit && !json.plain_integer(event.visit)) return false;
    const bool has_ref = json.follows(R"(,"ref":)");
    if (has_ref && !json.plain_integer(event.ref)) return false;
    // Zeros are not written.
    if (has_visit != (event.visit != 0) || has_ref != (event.ref != 0)) return false;
    if (json.follows(R"(,"path":)")) {
        std::string_view path;
        if (!json.plain_string(path) || path.empty()) return false;
        event.path = path;
    }
    event.is_undoable = json.follows(R"(,"undoable":true)");
    event.at = from_milliseconds(timestamp);
    event.attempt = static_cast<std::int32_t>(attempt);
    return json.ends();
}

}  // namespace

TimePoint from_milliseconds(std::int64_t value) {
    if (value < -kMillisecondsMax || value > kMillisecondsMax) {
        throw_corrupt("a time is out of range");
    }
    return TimePoint(std::chrono::milliseconds(value));
}

void EventReader::context(JsonReader& json) {
    json.object([&](std::string_view name) {
        const NodeIndex node = find(name);
        json.array([&] { read_result(json, node); });
    });
}

void EventReader::events(JsonReader& json) {
    json.array([&] {
        Kept event;
        read(json, event);
        events_.push_back(std::move(event));
    });
}

NodeIndex EventReader::find(std::string_view name) {
    const NodeIndex node = nodes_.find(name);
    if (node == kNoNode) {
        throw_corrupt(fmt::format("the workflow has no node \"{}\"", name));
    }
    return node;
}

void EventReader::read_result(JsonReader& json, NodeIndex node) {
    Kept& event = events_.emplace_back();
    if (!read_written(json, event)) {
        event = {};
        read(json, event);
    }
    event.node = node;
    const auto refuse = [&](const char* why) {
        throw_corrupt(
            fmt::format("a result of node \"{}\" {}", nodes_.program().node(node).name, why)
        );
    };
    if (!is_result(event.type)) refuse("is none");
    if (event.payload.empty()) refuse("has no output");
}

/// A result in its usual written form, without rare members. False: nothing was read.
bool EventReader::read_written(JsonReader& json, Kept& event) {
    const JsonReader::Place start = json.place();
    if (!json.begins(R"({"output":)")) return false;
    const JsonReader::Place before = json.place();
    const std::string_view output = json.raw();
    JsonReader rest = json;
    const bool is_written = output.data() == before.at && read_written_members(rest, event);
    json = rest;
    if (!is_written) {
        json.back_to(start);
        return false;
    }
    event.payload.refer_to(output);
    event.written = json.since(start);
    return true;
}

void EventReader::read(JsonReader& json, Kept& event) {
    event.type = HistoryType::StepCompleted;
    std::string_view output;
    json.object([&](std::string_view key) {
        if (key == "output") {
            output = json.raw();
        } else if (key == "failure" || key == "payload") {
            event.payload.refer_to(json.raw());
        } else if (key == "timestamp") {
            event.at = from_milliseconds(json.integer());
        } else {
            read_place(json, key, event);
        }
    });
    if (event.payload.empty()) event.payload.refer_to(output);
}

void EventReader::read_place(JsonReader& json, std::string_view key, Kept& event) {
    if (key == "attempt") {
        event.attempt =
            static_cast<std::int32_t>(std::clamp<std::int64_t>(json.integer(), 0, kAttemptMax));
    } else if (key == "seq") {
        event.seq = json.integer();
    } else if (key == "visit") {
        event.visit = json.integer();
    } else if (key == "ref") {
        event.ref = json.integer();
    } else if (key == "path") {
        event.path = json.string();
    } else if (key == "undoable") {
        event.is_undoable = json.boolean();
    } else if (key == "node") {
        event.node = find(json.string_view(decoded_));
    } else if (key == "type") {
        event.type = type(json);
    } else {
        json.skip();
    }
}

HistoryType EventReader::type(JsonReader& json) {
    const std::string_view text = json.string_view(decoded_);
    const auto type = parse_history_type(text);
    if (!type) throw_corrupt(fmt::format("\"{}\" is not a type of event", text));
    return *type;
}

}  // namespace ebb::stateless
