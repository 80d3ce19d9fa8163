#include "core/model/label_values.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <ebb/error.h>

#include "core/model/words.h"
#include "support/clock.h"
#include "support/json.h"

namespace ebb {

namespace {

constexpr std::array<std::string_view, 4> kTypes = {"text", "number", "bool", "time"};

bool is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

bool is_name_character(char c) {
    return is_letter(c) || (c >= '0' && c <= '9') || c == '.' || c == '-';
}

[[noreturn]] void refuse(const std::string& message) {
    throw Error(ErrorCode::InvalidArgument, message);
}

[[noreturn]] void refuse_value(
    std::string_view name, std::string_view found, std::string_view wanted
) {
    refuse(fmt::format("The label {} is {}, but must be {}.", model::in_quotes(name), found, wanted)
    );
}

void check_text(std::string_view name, const std::string& text) {
    if (text.size() > LabelLimits::kTextBytesMax) {
        throw Error(
            ErrorCode::LimitExceeded,
            fmt::format(
                "The label {} has a text of {} bytes; at most {} are allowed.",
                model::in_quotes(name),
                text.size(),
                LabelLimits::kTextBytesMax
            )
        );
    }
    const bool is_plain = text.find('\0') == std::string::npos;
    if (is_plain && clean_text(text, text.size()) == text) return;
    refuse(fmt::format(
        "The text of the label {} must be UTF-8 without U+0000.", model::in_quotes(name)
    ));
}

void check_value(std::string_view name, const LabelValue& value) {
    if (value.type() == LabelType::Text) return check_text(name, value.text());
    if (value.type() == LabelType::Number && !std::isfinite(value.number())) {
        refuse_value(name, "infinite or not a number", "a finite number");
    }
}

/// A JSON value for a message.
std::string shown(const Json& json) {
    constexpr std::size_t kShownBytes = 60;
    return clean_text(to_text(json), kShownBytes);
}

TimePoint time_of(std::string_view name, std::string_view text) {
    if (const auto time = parse_time(text)) return *time;
    refuse_value(
        name, model::in_quotes(text), "a time of RFC 3339, such as \"2026-01-31T08:00:00Z\""
    );
}

LabelValue value_from_json(const std::string& name, const Json& json) {
    if (json.is_string()) return json.get<std::string>();
    if (json.is_boolean()) return json.get<bool>();
    if (json.is_number()) return json.get<double>();
    const bool is_time = json.is_object() && json.size() == 1 && json.contains("time") &&
                         json.at("time").is_string();
    if (is_time) return time_of(name, json.at("time").get<std::string>());
    refuse_value(
        name,
        fmt::format("{} in JSON", shown(json)),
        "a text, a number, a bool or an object such as {\"time\": \"2026-01-31T08:00:00Z\"}"
    );
}

}  // namespace

std::string_view to_string(LabelType type) {
    return kTypes[static_cast<std::size_t>(type)];
}

LabelType parse_label_type(std::string_view text) {
    const auto* const found = std::find(kTypes.begin(), kTypes.end(), text);
    if (found != kTypes.end()) return static_cast<LabelType>(found - kTypes.begin());
    refuse(fmt::format(
        "{} is not the type of a label; there are text, number, bool and time.",
        model::in_quotes(text)
    ));
}

bool is_label_name(std::string_view name) {
    return !name.empty() && name.size() <= LabelLimits::kNameBytesMax && is_letter(name.front()) &&
           std::all_of(name.begin(), name.end(), is_name_character);
}

void check_labels(const Labels& labels) {
    if (labels.size() > LabelLimits::kLabelsMax) {
        throw Error(
            ErrorCode::LimitExceeded,
            fmt::format(
                "An instance has at most {} labels; these are {}.",
                LabelLimits::kLabelsMax,
                labels.size()
            )
        );
    }
    for (const auto& [name, value] : labels) {
        if (!is_label_name(name)) {
            refuse(fmt::format(
                "{} is not the name of a label. It has 1 to {} letters, digits, \"_\", \"-\" and "
                "\".\", and begins with a letter or \"_\".",
                model::in_quotes(name),
                LabelLimits::kNameBytesMax
            ));
        }
        check_value(name, value);
    }
}

Json label_to_json(const LabelValue& value) {
    switch (value.type()) {
        case LabelType::Text:
            return value.text();
        case LabelType::Number:
            return value.number();
        case LabelType::Bool:
            return value.boolean();
        case LabelType::Time:
            return Json{{"time", format_time(value.time())}};
    }
    return nullptr;
}

Json labels_to_json(const Labels& labels) {
    Json json = Json::object();
    for (const auto& [name, value] : labels) json[name] = label_to_json(value);
    return json;
}

Labels labels_from_json(const Json& json) {
    if (!json.is_object()) {
        refuse(R"(Labels are an object, such as {"customer": "acme", "total": 99.5}.)");
    }
    Labels labels;
    for (const auto& [name, value] : json.items()) {
        labels.insert_or_assign(name, value_from_json(name, value));
    }
    check_labels(labels);
    return labels;
}

LabelValue label_of(std::string_view name, LabelType type, const Json& json) {
    const auto of_type = [&]() -> LabelValue {
        switch (type) {
            case LabelType::Text:
                if (json.is_string()) return json.get<std::string>();
                if (json.is_primitive()) return to_text(json);
                break;
            case LabelType::Number:
                if (json.is_number()) return json.get<double>();
                break;
            case LabelType::Bool:
                if (json.is_boolean()) return json.get<bool>();
                break;
            case LabelType::Time:
                if (json.is_string()) return time_of(name, json.get<std::string>());
                break;
        }
        refuse_value(
            name, fmt::format("{} in JSON", shown(json)), fmt::format("a {}", to_string(type))
        );
    };
    LabelValue value = of_type();
    check_value(name, value);
    return value;
}

LabelValue parse_label(std::string_view name, LabelType type, std::string_view text) {
    switch (type) {
        case LabelType::Text:
            return text;
        case LabelType::Number: {
            double number = 0;
            const auto [end, error] =
                std::from_chars(text.data(), text.data() + text.size(), number);
            if (error == std::errc() && end == text.data() + text.size()) return number;
            refuse_value(name, model::in_quotes(text), "a number");
        }
        case LabelType::Bool:
            if (text == "true" || text == "false") return text == "true";
            refuse_value(name, model::in_quotes(text), "true or false");
        case LabelType::Time:
            return time_of(name, text);
    }
    refuse_value(name, model::in_quotes(text), "a value");
}

}  // namespace ebb
