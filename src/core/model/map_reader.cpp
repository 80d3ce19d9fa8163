#include "core/model/map_reader.h"

#include <limits>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "support/clock.h"
#include "support/json.h"

namespace ebb::model {

void Problems::add(std::string code, std::string path, const Document& at, std::string message) {
    add({.code = std::move(code),
         .path = std::move(path),
         .message = std::move(message),
         .line = at.place.line,
         .column = at.place.column},
        at.order);
}

void Problems::add(Diagnostic diagnostic, std::size_t order) {
    if (problems_.size() < kProblemsMax) problems_.push_back({std::move(diagnostic), order});
}

std::string describe(const Document& value) {
    switch (value.type) {
        case Document::Type::Null:
            return "nothing";
        case Document::Type::Bool:
            return to_text(value.scalar);
        case Document::Type::Number:
            return "the number " + to_text(value.scalar);
        case Document::Type::Text:
            return "the text " + in_quotes(value.text());
        case Document::Type::List:
            return "a list";
        case Document::Type::Map:
            return "a map";
    }
    return "nothing";
}

std::string MapReader::path_of(std::string_view key) const {
    return path_ + "/" + escape_pointer(key);
}

void MapReader::note(std::string code, std::string_view key, std::string message) const {
    const Document* value = find(key);
    problems_.add(
        std::move(code), path_of(key), value == nullptr ? map_ : *value, std::move(message)
    );
}

void MapReader::note_type(std::string_view key, const Document& value, std::string_view wanted)
    const {
    std::string message =
        fmt::format("\"{}\" must be {}, but here is {}.", key, wanted, describe(value));
    const bool is_scalar =
        value.type == Document::Type::Number || value.type == Document::Type::Bool;
    if (is_scalar && wanted.starts_with("a text")) {
        message += fmt::format(" Write it in quotes: \"{}\".", to_text(value.scalar));
    }
    note("wrong_type", key, std::move(message));
}

void MapReader::note_word(
    std::string_view key, const Document& value, std::span<const std::string_view> known
) const {
    std::string message = fmt::format(
        "\"{}\" must be one of {}, but here is {}.", key, fmt::join(known, ", "), describe(value)
    );
    if (value.is_text()) {
        const std::string_view meant = closest(value.text(), known);
        if (!meant.empty()) message += fmt::format(" Did you mean \"{}\"?", meant);
    }
    note("invalid_value", key, std::move(message));
}

void MapReader::allow_only(const std::vector<std::string_view>& keys) const {
    for (const Document::Member& member : map_.members) {
        if (std::find(keys.begin(), keys.end(), member.key) != keys.end()) continue;
        Diagnostic diagnostic{
            .code = "unknown_key",
            .path = path_of(member.key),
            .message = fmt::format(
                "There is no key {} here.{}", in_quotes(member.key), hint(member.key, keys)
            ),
            .line = member.place.line,
            .column = member.place.column,
        };
        problems_.add(std::move(diagnostic), member.value.order);
    }
}

void MapReader::require(std::string_view key, std::string_view why) const {
    if (has(key)) return;
    note("missing_key", key, fmt::format("\"{}\" is missing: {}.", key, why));
}

std::string MapReader::text(std::string_view key) const {
    const Document* value = find(key);
    if (value != nullptr && value->is_text() && value->text().empty()) {
        note("invalid_value", key, fmt::format("\"{}\" must not be empty; leave it out.", key));
    }
    return free_text(key);
}

std::string MapReader::free_text(std::string_view key) const {
    const Document* value = find(key);
    if (value == nullptr) return {};
    if (value->is_text()) return value->text();
    note_type(key, *value, "a text");
    return {};
}

std::string MapReader::expression(std::string_view key) const {
    const Document* value = find(key);
    if (value == nullptr) return {};
    if (value->type == Document::Type::Bool) return to_text(value->scalar);
    if (value->is_text()) return value->text();
    note_type(key, *value, "an expression that yields true or false, such as `input.amount > 100`");
    return {};
}

std::int64_t MapReader::integer(std::string_view key, std::int64_t otherwise) const {
    const Document* value = find(key);
    if (value == nullptr) return otherwise;
    const Json& scalar = value->scalar;
    const bool fits =
        scalar.is_number_integer() &&
        (!scalar.is_number_unsigned() ||
         scalar.get<std::uint64_t>() <= std::uint64_t{std::numeric_limits<std::int64_t>::max()});
    if (fits) return scalar.get<std::int64_t>();
    note_type(key, *value, "a whole number");
    return otherwise;
}

int MapReader::small_integer(std::string_view key, int otherwise) const {
    const std::int64_t value = integer(key, otherwise);
    constexpr int kMin = std::numeric_limits<int>::min();
    constexpr int kMax = std::numeric_limits<int>::max();
    if (value >= kMin && value <= kMax) return static_cast<int>(value);
    note("out_of_range", key, fmt::format("\"{}\" is {}, which is far out of range.", key, value));
    return otherwise;
}

double MapReader::number(std::string_view key, double otherwise) const {
    const Document* value = find(key);
    if (value == nullptr) return otherwise;
    if (value->type == Document::Type::Number) return value->scalar.get<double>();
    note_type(key, *value, "a number");
    return otherwise;
}

bool MapReader::boolean(std::string_view key, bool otherwise) const {
    const Document* value = find(key);
    if (value == nullptr) return otherwise;
    if (value->type == Document::Type::Bool) return value->scalar.get<bool>();
    note_type(key, *value, "true or false");
    return otherwise;
}

Duration MapReader::duration(std::string_view key, Duration otherwise) const {
    const Document* value = find(key);
    if (value == nullptr) return otherwise;
    if (value->is_text()) {
        if (const auto duration = parse_duration(value->text())) return *duration;
    }
    // A unit says nothing about no time at all.
    if (value->type == Document::Type::Number && value->scalar == Json(0)) return Duration(0);
    note(
        "invalid_duration",
        key,
        fmt::format(
            "\"{}\" must be a duration such as 100ms, 90s, 1h30m or 2d, but here is {}.",
            key,
            describe(*value)
        )
    );
    return otherwise;
}

Payload MapReader::payload(std::string_view key) const {
    const Document* value = find(key);
    return value == nullptr ? Payload() : to_text(value->to_json());
}

std::vector<std::string> MapReader::texts(std::string_view key) const {
    const Document* value = find(key);
    if (value == nullptr) return {};
    if (!value->is_list()) {
        note_type(key, *value, "a list of texts");
        return {};
    }
    std::vector<std::string> texts;
    for (std::size_t i = 0; i < value->elements.size(); ++i) {
        const Document& element = value->elements[i];
        if (element.is_text()) {
            texts.push_back(element.text());
            continue;
        }
        problems_.add(
            "wrong_type",
            fmt::format("{}/{}", path_of(key), i),
            element,
            fmt::format("Each of \"{}\" must be a text, but here is {}.", key, describe(element))
        );
    }
    return texts;
}

}  // namespace ebb::model
