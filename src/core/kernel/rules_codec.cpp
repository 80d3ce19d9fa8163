// The attributes as a part of the state's text.

#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <ebb/error.h>

#include "core/kernel/state_text.h"
#include "core/rules/values.h"
#include "support/json.h"

namespace ebb {

namespace {

/// Of what write_rules writes. A process refuses a format that it does not know.
constexpr std::int64_t kFormat = 1;

[[noreturn]] void throw_corrupt(const std::string& why) {
    throw Error(ErrorCode::CorruptState, "The stored state cannot be understood: " + why + ".");
}

/// Members whose names are those of attributes or triggers.
class Members {
 public:
    explicit Members(JsonWriter& out) : out_(out) { out_.put('{'); }

    JsonWriter& next(const std::string& name) {
        if (!is_first_) out_.put(',');
        is_first_ = false;
        out_.plain(name);
        out_.put(':');
        return out_;
    }

    void end() { out_.put('}'); }

 private:
    JsonWriter& out_;
    bool is_first_ = true;
};

class RulesReader {
 public:
    RulesReader(JsonReader& json, const rules::Program& program)
        : json_(json), program_(program), state_(program.initial_state()) {}

    rules::State read() {
        std::int64_t format = 0;
        std::size_t values = 0;
        json_.object([&](std::string_view key) {
            if (key == "format") {
                format = json_.integer();
            } else if (key == "values") {
                values = read_values();
            } else {
                read_field(key);
            }
        });
        if (format != kFormat) {
            throw_corrupt(fmt::format(
                "its attributes have the format {}; this version of Ebb knows the format {}",
                format,
                kFormat
            ));
        }
        if (values != state_.values.size()) {
            throw_corrupt(fmt::format(
                "it has {} attributes; its workflow has {}", values, state_.values.size()
            ));
        }
        return std::move(state_);
    }

 private:
    JsonReader& json_;
    const rules::Program& program_;
    rules::State state_;

    void read_field(std::string_view key) {
        if (key == "written") {
            json_.object([&](std::string_view name) { value_of(name).written = json_.integer(); });
        } else if (key == "marks") {
            json_.object([&](std::string_view name) { read_mark(mark_of(name)); });
        } else if (key == "idle") {
            const std::int64_t fires = json_.integer();
            if (fires < 0 || fires > RulesLimits::kIdleFiresMax) {
                throw_corrupt("a counter of its rules is out of range");
            }
            state_.idle_fires = static_cast<std::int32_t>(fires);
        } else if (key == "finishing") {
            state_.is_finishing = json_.boolean();
        } else if (key == "asks_all") {
            state_.asks_all = json_.boolean();
        } else if (key == "exception") {
            state_.exception = json_.integer();
        } else {
            json_.skip();
        }
    }

    std::size_t read_values() {
        std::vector<bool> seen(state_.values.size(), false);
        std::size_t count = 0;
        json_.object([&](std::string_view name) {
            rules::AttributeValue& value = value_of(name);
            const auto index = static_cast<std::size_t>(&value - state_.values.data());
            if (!seen[index]) ++count;
            seen[index] = true;
            value.json = std::string(json_.raw());
            if (program_.rules().attributes[index].type != AttributeType::Double) return;
            // A flow in SQL may have written the same number with other digits.
            rules::Coerced same =
                rules::coerce(AttributeType::Double, Json::parse(value.json, nullptr, false));
            if (same.fault.empty()) value.json = std::move(same.json);
        });
        return count;
    }

    rules::AttributeValue& value_of(std::string_view name) {
        const int index = program_.find_attribute(name);
        if (index < 0) throw_corrupt(fmt::format("its workflow has no attribute \"{}\"", name));
        return state_.values[static_cast<std::size_t>(index)];
    }

    rules::TriggerMark& mark_of(std::string_view name) {
        for (std::size_t i = 0; i < program_.triggers().size(); ++i) {
            if (program_.triggers()[i].name == name) return state_.marks[i];
        }
        throw_corrupt(fmt::format("its workflow has no trigger \"{}\"", name));
    }

    void read_mark(rules::TriggerMark& mark) {
        json_.object([&](std::string_view key) {
            if (key == "fires") {
                mark.fires = json_.integer();
            } else if (key == "true") {
                mark.was_true = json_.boolean();
            } else if (key == "failed") {
                mark.failed = json_.integer();
            } else {
                json_.skip();
            }
        });
    }
};

}  // namespace

void write_rules(JsonWriter& out, const rules::State& state, const rules::Program& program) {
    out.key("rules");
    out.put('{');
    out.number("format", kFormat);
    out.key("values");
    Members values(out);
    const auto& attributes = program.rules().attributes;
    for (std::size_t i = 0; i < state.values.size(); ++i) {
        values.next(attributes[i].name).raw(state.values[i].json);
    }
    values.end();
    out.key("written");
    Members written(out);
    for (std::size_t i = 0; i < state.values.size(); ++i) {
        const std::int64_t seq = state.values[i].written;
        if (seq != 0) written.next(attributes[i].name).number(seq);
    }
    written.end();
    out.key("marks");
    Members marks(out);
    for (std::size_t i = 0; i < state.marks.size(); ++i) {
        const rules::TriggerMark& mark = state.marks[i];
        if (mark == rules::TriggerMark{}) continue;
        marks.next(program.triggers()[i].name).put('{');
        out.number("fires", mark.fires);
        if (mark.was_true) out.raw("true", "true");
        if (mark.failed != 0) out.number("failed", mark.failed);
        out.put('}');
    }
    marks.end();
    if (state.idle_fires != 0) out.number("idle", state.idle_fires);
    if (state.is_finishing) out.raw("finishing", "true");
    if (state.asks_all) out.raw("asks_all", "true");
    if (state.exception != 0) out.number("exception", state.exception);
    out.put('}');
}

rules::State read_rules(JsonReader& json, const rules::Program& program) {
    return RulesReader(json, program).read();
}

std::string fault_of(const rules::State& state, const rules::Program& program) {
    const auto& attributes = program.rules().attributes;
    if (state.values.size() != attributes.size() ||
        state.marks.size() != program.triggers().size()) {
        return "its attributes are not those of its workflow";
    }
    for (std::size_t i = 0; i < attributes.size(); ++i) {
        const Json json = Json::parse(state.values[i].json, nullptr, false);
        const bool is_value = !json.is_discarded() &&
                              rules::coerce(attributes[i].type, json).json == state.values[i].json;
        if (!is_value) {
            return fmt::format("the attribute \"{}\" has no value of its type", attributes[i].name);
        }
    }
    for (const rules::TriggerMark& mark : state.marks) {
        if (mark.fires < 0) return "a counter of its rules is out of range";
    }
    return {};
}

}  // namespace ebb
