#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "core/expression/source.h"
#include "core/predicate/evaluator.h"

namespace ebb::predicate {

namespace {

bool is_continuation(char c) {
    return (static_cast<unsigned char>(c) & 0xC0) == 0x80;
}

/// The first `count` characters of `text`.
std::string_view first_characters(std::string_view text, std::int64_t count) {
    std::size_t at = 0;
    for (; count > 0 && at < text.size(); --count) {
        ++at;
        while (at < text.size() && is_continuation(text[at])) ++at;
    }
    return text.substr(0, at);
}

std::int64_t characters(std::string_view text) {
    return static_cast<std::int64_t>(expression::count_characters(text));
}

std::string_view left(std::string_view text, std::int64_t count) {
    if (count < 0) count = std::max<std::int64_t>(0, characters(text) + count);
    return first_characters(text, count);
}

std::string_view right(std::string_view text, std::int64_t count) {
    const std::int64_t length = characters(text);
    const std::int64_t dropped = count < 0 ? -count : std::max<std::int64_t>(0, length - count);
    return text.substr(first_characters(text, dropped).size());
}

/// Whether the character of `text` at `at` is one of `set`.
bool is_in(std::string_view text, std::size_t at, std::string_view set) {
    std::size_t length = 1;
    while (at + length < text.size() && is_continuation(text[at + length])) ++length;
    const std::string_view wanted = text.substr(at, length);
    for (std::size_t i = 0; i < set.size();) {
        std::size_t size = 1;
        while (i + size < set.size() && is_continuation(set[i + size])) ++size;
        if (set.substr(i, size) == wanted) return true;
        i += size;
    }
    return false;
}

std::string_view trimmed(Function function, std::string_view text, std::string_view set) {
    if (function != Function::RightTrim) {
        while (!text.empty() && is_in(text, 0, set)) {
            text.remove_prefix(first_characters(text, 1).size());
        }
    }
    while (function != Function::LeftTrim && !text.empty()) {
        std::size_t last = text.size() - 1;
        while (last > 0 && is_continuation(text[last])) --last;
        if (!is_in(text, last, set)) break;
        text = text.substr(0, last);
    }
    return text;
}

Value substring(Evaluator& evaluator, const CodeNode& node, std::span<const Value> arguments) {
    std::string_view text = arguments[0].text;
    const std::int64_t from = arguments[1].integer;
    // Positions count from 1; what lies before the text counts as well.
    std::int64_t end = std::numeric_limits<std::int64_t>::max();
    if (arguments.size() > 2) {
        const std::int64_t length = arguments[2].integer;
        if (length < 0) evaluator.fail(node, "A substring cannot have a negative length.");
        end = from + length;
    }
    if (end <= 1) return {.is_null = false, .text = {}};
    const std::int64_t first = std::max<std::int64_t>(from, 1);
    text.remove_prefix(first_characters(text, first - 1).size());
    if (arguments.size() > 2) text = first_characters(text, end - first);
    return {.is_null = false, .text = text};
}

Value rounded(
    Evaluator& evaluator, const CodeNode& node, Type type, std::span<const Value> arguments
) {
    if (type == Type::Double) {
        const double value = arguments[0].real;
        if (node.function == Function::Ceil) return Evaluator::of_real(std::ceil(value));
        if (node.function == Function::Floor) return Evaluator::of_real(std::floor(value));
        return Evaluator::of_real(std::rint(value));
    }
    const Numeric& value = *arguments[0].numeric;
    if (node.function == Function::Ceil) return evaluator.of_numeric(value.ceil());
    if (node.function == Function::Floor) return evaluator.of_numeric(value.floor());
    const std::int64_t scale = arguments.size() > 1 ? arguments[1].integer : 0;
    constexpr std::int64_t kMax = Numeric::kDigitsMax;
    return evaluator.of_numeric(value.rounded(static_cast<int>(std::clamp(scale, -kMax, kMax))));
}

Value absolute(Evaluator& evaluator, const CodeNode& node, Type type, const Value& value) {
    if (type == Type::Double) return Evaluator::of_real(std::fabs(value.real));
    if (type == Type::Numeric) return evaluator.of_numeric(value.numeric->absolute());
    return value.integer < 0 ? negate(evaluator, node, value) : value;
}

Value text_function(Evaluator& evaluator, const CodeNode& node, std::span<const Value> arguments) {
    const auto shared = [](std::string_view text) { return Value{.is_null = false, .text = text}; };
    const std::string_view text = arguments[0].text;
    switch (node.function) {
        case Function::Lower:
            return evaluator.of_text(ascii_lower(text));
        case Function::Upper: {
            std::string upper(text);
            for (char& c : upper) {
                if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
            }
            return evaluator.of_text(std::move(upper));
        }
        case Function::Length:
            return Evaluator::of_integer(characters(text));
        case Function::Trim:
        case Function::LeftTrim:
        case Function::RightTrim:
            return shared(
                trimmed(node.function, text, arguments.size() > 1 ? arguments[1].text : " ")
            );
        case Function::Left:
            return shared(left(text, arguments[1].integer));
        case Function::Right:
            return shared(right(text, arguments[1].integer));
        case Function::StartsWith:
            return Evaluator::of(text.starts_with(arguments[1].text));
        default:
            return substring(evaluator, node, arguments);
    }
}

}  // namespace

Value call(
    Evaluator& evaluator, const CodeNode& node, Type first, std::span<const Value> arguments
) {
    switch (node.function) {
        case Function::Abs:
            return absolute(evaluator, node, first, arguments[0]);
        case Function::Ceil:
        case Function::Floor:
        case Function::Round:
            return rounded(evaluator, node, first, arguments);
        default:
            return text_function(evaluator, node, arguments);
    }
}

}  // namespace ebb::predicate
