#include "core/model/map_reader.h"

#include <limits>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/model/placing.h"
#include "support/clock.h"
#include "support/json.h"

namespace ebb::model {

void Problems::add(std::string code, std::string path, const Document& at, std::string message) {
    Diagnostic diagnostic{
        .code = std::move(code), .path = std::move(path), .message = std::move(message)
    };
    set_range(diagnostic, range_of(at));
    add(std::move(diagnostic), at.order);
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

Diagnostic MapReader::problem_of(std::string code, std::string_view key, std::string message)
    const {
    const Document* value = find(key);
    Diagnostic diagnostic{
        .code = std::move(code), .path = path_of(key), .message = std::move(message)
    };
    set_range(diagnostic, range_of(value == nullptr ? map_ : *value));
    return diagnostic;
}

void MapReader::note(std::string code, std::string_view key, std::string message) const {
    const Document* value = find(key);
    problems_.add(
        problem_of(std::move(code), key, std::move(message)),
        (value == nullptr ? map_ : *value).order
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
    Diagnostic problem = problem_of("wrong_type", key, std::move(message));
    const bool is_exact = is_scalar && !value.scalar.is_number_float();
    if (is_exact && wanted.starts_with("a text") && problem.line > 0) {
        const std::string quoted = fmt::format("\"{}\"", to_text(value.scalar));
        problem.fixes.push_back(
            {.title = "Write it in quotes", .range = range_of(value), .replacement = quoted}
        );
    }
    problems_.add(std::move(problem), value.order);
}

void MapReader::note_word(
    std::string_view key, const Document& value, std::span<const std::string_view> known
) const {
    std::string message = fmt::format(
        "\"{}\" must be one of {}, but here is {}.", key, fmt::join(known, ", "), describe(value)
    );
    const std::string_view meant =
        value.is_text() ? closest(value.text(), known) : std::string_view();
    if (!meant.empty()) message += fmt::format(" Did you mean \"{}\"?", meant);
    Diagnostic problem = problem_of("invalid_value", key, std::move(message));
    if (value.is_text()) add_replacement(problem, range_of(value), value.text(), meant);
    problems_.add(std::move(problem), value.order);
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
        };
        set_range(diagnostic, range_of_key(member));
        add_replacement(diagnostic, range_of_key(member), member.key, closest(member.key, keys));
        problems_.add(std::move(diagnostic), member.value.order);
    }
}

void MapReader::require(std::string_view key, std::string_view why) const {
    if (has(key)) return;
    Diagnostic problem =
        problem_of("missing_key", key, fmt::format("\"{}\" is missing: {}.", key, why));
    add_missing_key(problem, map_, key);
    problems_.add(std::move(problem), map_.order);
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

std::string MapReader::expression(std::string_view key, std::string_view example) const {
    const Document* value = find(key);
    if (value == nullptr) return {};
    if (value->type == Document::Type::Bool) return to_text(value->scalar);
    if (value->is_text()) return value->text();
    note_type(
        key, *value, fmt::format("an expression that yields true or false, such as `{}`", example)
    );
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
    Diagnostic problem = problem_of(
        "invalid_duration",
        key,
        fmt::format(
            "\"{}\" must be a duration such as 100ms, 90s, 1h30m or 2d, but here is {}.",
            key,
            describe(*value)
        )
    );
    if (value->is_text() && value->text().starts_with('-')) {
        problem.message += " A duration cannot be negative.";
    }
    if (value->scalar.is_number_unsigned()) {
        const std::string number = to_text(value->scalar);
        for (const std::string_view unit : {"s", "m", "h"}) {
            add_replacement(problem, range_of(*value), number, number + std::string(unit));
        }
    }
    problems_.add(std::move(problem), value->order);
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
