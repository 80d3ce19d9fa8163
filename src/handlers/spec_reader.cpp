#include "handlers/spec_reader.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/model/words.h"
#include "handlers/call_variables.h"
#include "support/clock.h"

namespace ebb {

std::string escape_pointer(std::string_view key) {
    std::string escaped;
    for (const char c : key) {
        if (c == '~')
            escaped += "~0";
        else if (c == '/')
            escaped += "~1";
        else
            escaped += c;
    }
    return escaped;
}

namespace {

std::optional<std::size_t> parse_bytes(std::string_view text) {
    std::size_t count = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
    if (error != std::errc()) return std::nullopt;
    const std::string_view unit(end, static_cast<std::size_t>(text.data() + text.size() - end));
    const int shift = unit == "B" ? 0 : unit == "KiB" ? 10 : unit == "MiB" ? 20 : -1;
    if (shift < 0 || count > (std::size_t{1} << 40)) return std::nullopt;
    return count << shift;
}

bool is_name_start(char c) {
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_';
}

}  // namespace

std::optional<std::string> scalar_text(const Json& value) {
    if (value.is_string()) return value.get<std::string>();
    if (value.is_number() || value.is_boolean()) return to_text(value);
    return std::nullopt;
}

bool is_variable_name(std::string_view name) {
    return !name.empty() && is_name_start(name.front()) &&
           std::all_of(name.begin(), name.end(), [](char c) {
               return is_name_start(c) || (c >= '0' && c <= '9');
           });
}

void SpecReader::note(std::string code, const std::string& at, std::string message) {
    problems_.push_back({.code = std::move(code), .path = path_ + at, .message = std::move(message)}
    );
}

void SpecReader::allow_only(std::vector<std::string_view> keys) {
    for (const auto& [key, value] : object_.items()) {
        if (std::find(keys.begin(), keys.end(), key) != keys.end()) continue;
        const std::string hint = model::hint(key, keys);
        note(
            "unknown_key",
            "/" + escape_pointer(key),
            fmt::format("There is no key \"{}\" here.{}", clean_text(key, 100), hint)
        );
    }
}

void SpecReader::allow_only_of_entry(std::vector<std::string_view> keys) {
    for (const std::string_view key : {"input_schema", "output_schema", "defaults", "result"}) {
        keys.push_back(key);
    }
    allow_only(std::move(keys));
}

const Json* SpecReader::find(std::string_view key) const {
    const auto found = object_.find(key);
    return found == object_.end() ? nullptr : &*found;
}

std::string SpecReader::text(std::string_view key, std::string_view otherwise) {
    const Json* value = find(key);
    if (value == nullptr) return std::string(otherwise);
    const std::string at = fmt::format("/{}", key);
    if (!value->is_string()) {
        note("wrong_type", at, fmt::format("\"{}\" must be a text.", key));
        return std::string(otherwise);
    }
    if (value->get_ref<const std::string&>().empty()) {
        note("invalid_value", at, fmt::format("\"{}\" must not be empty.", key));
    }
    return value->get<std::string>();
}

std::vector<std::string> SpecReader::texts(std::string_view key, std::size_t count_max) {
    const Json* value = find(key);
    if (value == nullptr) return {};
    const std::string at = fmt::format("/{}", key);
    if (!value->is_array() || value->empty() || value->size() > count_max) {
        note(
            "wrong_type", at, fmt::format("\"{}\" must be a list of 1 to {} texts.", key, count_max)
        );
        return {};
    }
    std::vector<std::string> texts;
    for (const Json& element : *value) {
        texts.push_back(scalar_text(element).value_or(""));
        if (texts.back().empty()) {
            note(
                "wrong_type",
                fmt::format("{}/{}", at, texts.size() - 1),
                fmt::format("Each element of \"{}\" must be a text that is not empty.", key)
            );
        }
    }
    return texts;
}

Duration SpecReader::duration(std::string_view key, Duration otherwise, Duration max) {
    const Json* value = find(key);
    if (value == nullptr) return otherwise;
    const auto parsed =
        value->is_string() ? parse_duration(value->get_ref<const std::string&>()) : std::nullopt;
    if (!parsed || *parsed <= Duration(0) || *parsed > max) {
        note(
            "invalid_value",
            fmt::format("/{}", key),
            fmt::format(
                "\"{}\" must be a duration such as 30s or 5m, above 0 and at most {}.",
                key,
                format_duration(max)
            )
        );
        return otherwise;
    }
    return *parsed;
}

std::size_t SpecReader::bytes(std::string_view key, std::size_t otherwise, std::size_t max) {
    const Json* value = find(key);
    if (value == nullptr) return otherwise;
    std::optional<std::size_t> parsed;
    if (value->is_number_unsigned()) parsed = value->get<std::size_t>();
    if (value->is_string()) parsed = parse_bytes(value->get_ref<const std::string&>());
    if (!parsed || *parsed < 1 || *parsed > max) {
        note(
            "invalid_value",
            fmt::format("/{}", key),
            fmt::format(
                "\"{}\" must be a number of bytes or a text such as 64KiB, from 1 to {}.", key, max
            )
        );
        return otherwise;
    }
    return *parsed;
}

OutputMode SpecReader::output_mode() {
    const std::string mode = text("output", "json");
    if (mode == "text") return OutputMode::Text;
    if (mode == "none") return OutputMode::None;
    if (mode != "json") {
        note("invalid_value", "/output", "\"output\" must be json, text or none.");
    }
    return OutputMode::Document;
}

std::vector<std::string> SpecReader::variable_names(std::string_view key) {
    std::vector<std::string> names = texts(key, HandlerLimits::kVariablesMax);
    for (std::size_t i = 0; i < names.size(); ++i) {
        if (is_variable_name(names[i]) && !names[i].starts_with("EBB_")) continue;
        note(
            "invalid_value",
            fmt::format("/{}/{}", key, i),
            fmt::format(
                "\"{}\" is not a name of an environment variable that can be passed on: letters, "
                "digits and _, "
                "not beginning with a digit or EBB_.",
                clean_text(names[i], 100)
            )
        );
    }
    return names;
}

std::map<std::string, Template> SpecReader::templates(std::string_view key) {
    std::map<std::string, Template> compiled;
    const Json* value = find(key);
    if (value == nullptr) return compiled;
    if (!value->is_object() || value->size() > HandlerLimits::kVariablesMax) {
        note(
            "wrong_type",
            fmt::format("/{}", key),
            fmt::format(
                "\"{}\" must be an object of names and texts, with at most {} entries.",
                key,
                HandlerLimits::kVariablesMax
            )
        );
        return compiled;
    }
    for (const auto& [name, element] : value->items()) {
        const std::string at = fmt::format("/{}/{}", key, escape_pointer(name));
        const auto as_text = scalar_text(element);
        if (!as_text) {
            note("wrong_type", at, fmt::format("\"{}\" must be a text.", clean_text(name, 100)));
        } else if (auto one = compile(Json(*as_text), at)) {
            compiled.emplace(name, std::move(*one));
        }
    }
    return compiled;
}

std::optional<Template> SpecReader::compile(const Json& value, const std::string& at) {
    try {
        Template compiled = Template::compile(value);
        check_variables(compiled.variables_read(), at);
        return compiled;
    } catch (const ExpressionError& error) {
        note("invalid_expression", at, error.what());
        return std::nullopt;
    }
}

void SpecReader::check_variables(std::span<const std::string> names, const std::string& at) {
    for (const std::string& name : names) {
        if (is_call_variable(name)) continue;
        note(
            "unknown_variable",
            at,
            name == "steps"
                ? "A handler cannot read \"steps\": pass the data in the \"input\" of the step."
                : fmt::format(
                      "There is no variable \"{}\" in a handler; there are {}.",
                      clean_text(name, 100),
                      fmt::join(kCallVariables, ", ")
                  )
        );
    }
}

}  // namespace ebb
