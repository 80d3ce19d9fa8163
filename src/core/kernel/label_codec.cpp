#include "core/kernel/label_codec.h"

#include <string>
#include <utility>

#include <fmt/format.h>

namespace ebb {

void write_labels(JsonWriter& out, const Labels& labels) {
    if (labels.empty()) return;
    out.key("labels");
    out.put('[');
    bool is_first = true;
    for (const auto& [name, value] : labels) {
        if (!std::exchange(is_first, false)) out.put(',');
        out.put('{');
        out.plain("name", name);
        switch (value.type()) {
            case LabelType::Text:
                out.string("text", value.text());
                break;
            case LabelType::Number:
                out.raw("number", fmt::format("{}", value.number()));
                break;
            case LabelType::Bool:
                out.raw("bool", value.boolean() ? "true" : "false");
                break;
            case LabelType::Time:
                out.number("time", value.time().time_since_epoch().count());
                break;
        }
        out.put('}');
    }
    out.put(']');
}

namespace {

std::pair<std::string, LabelValue> read_label(JsonReader& json) {
    std::string name;
    LabelValue value;
    json.object([&](std::string_view key) {
        if (key == "name") {
            name = json.string();
        } else if (key == "text") {
            value = json.string();
        } else if (key == "number") {
            value = json.number();
        } else if (key == "bool") {
            value = json.boolean();
        } else if (key == "time") {
            value = TimePoint(Duration(json.integer()));
        } else {
            json.skip();
        }
    });
    return {std::move(name), std::move(value)};
}

/// Of the text of a state.
Labels read_labels_of(std::string_view state) {
    Labels labels;
    JsonReader json(state);
    json.object([&](std::string_view key) {
        if (key == "labels") {
            labels = read_labels(json);
        } else {
            json.skip();
        }
    });
    return labels;
}

}  // namespace

Labels read_labels(JsonReader& json) {
    Labels labels;
    json.array([&] {
        auto [name, value] = read_label(json);
        labels.insert_or_assign(std::move(name), std::move(value));
    });
    return labels;
}

Labels labels_of_state(std::string_view state) {
    // Quotes inside of texts are escaped, so only a member's name can look like this.
    if (state.find(R"("labels":[)") == std::string_view::npos) return {};
    try {
        return read_labels_of(state);
    } catch (const JsonSyntaxError&) {
        return {};
    }
}

}  // namespace ebb
