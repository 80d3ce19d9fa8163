#include "core/expression/fixed_fields.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "core/expression/names.h"
#include "core/expression/source.h"
#include "support/json.h"

namespace ebb::expression {

namespace {

constexpr std::size_t kShownBytesMax = 80;

/// `a, b and c`
std::string listed(std::span<const std::string_view> names) {
    if (names.size() < 2) return std::string(names.empty() ? std::string_view() : names.front());
    const auto first = names.first(names.size() - 1);
    return fmt::format("{} and {}", fmt::join(first, ", "), names.back());
}

std::string text_of_base(const FieldRead& read) {
    if (read.step.empty()) return std::string(read.variable);
    return fmt::format("{}.{}", read.variable, clean_text(read.step, kShownBytesMax));
}

/// Calls `use` with each expression of the texts in a valid template.
template <typename Use>
void for_each_expression(const Json& value, const Use& use) {
    if (value.is_structured()) {
        for (const Json& part : value) for_each_expression(part, use);
    }
    if (!value.is_string()) return;
    const auto& text = value.get_ref<const std::string&>();
    for (const Span& span : expressions_in(text)) {
        use(Expression::compile(text.substr(span.begin, span.end - span.begin)));
    }
}

class FixedTypes : public TypeSource {
 public:
    StaticType variable(std::string_view name) const override {
        if (name == "attempt") return {.set = StaticType::kInt};
        if (name == "now") return {.set = StaticType::kString};
        return {};
    }

    StaticType step(std::string_view) const override { return {}; }
};

}  // namespace

std::optional<UnknownField> judge(const FieldRead& read, std::span<const FixedFields> known) {
    const auto found = std::find_if(known.begin(), known.end(), [&](const FixedFields& one) {
        return one.variable == read.variable;
    });
    if (found == known.end()) return std::nullopt;
    const std::span<const std::string_view> fields = found->fields;
    if (std::find(fields.begin(), fields.end(), read.name) != fields.end()) return std::nullopt;
    const std::string base = text_of_base(read);
    if (fields.empty()) {
        return UnknownField{
            .message = fmt::format("{} is {}, which has no fields.", base, found->type),
            .meant = {},
        };
    }
    return UnknownField{
        .message = fmt::format(
            "{} has no field \"{}\"; it has {}.{}",
            base,
            clean_text(read.name, kShownBytesMax),
            listed(fields),
            did_you_mean(read.name, fields)
        ),
        .meant = std::string(nearest(read.name, fields)),
    };
}

std::vector<WrongCall> wrong_calls(const Expression& expression) {
    return wrong_calls(expression, FixedTypes());
}

std::vector<WrongCall> wrong_calls_in(const Json& value) {
    std::vector<WrongCall> found;
    for_each_expression(value, [&found](const Expression& expression) {
        for (WrongCall& wrong : wrong_calls(expression)) found.push_back(std::move(wrong));
    });
    return found;
}

std::vector<UnknownField> unknown_fields_in(const Json& value, std::span<const FixedFields> known) {
    std::vector<UnknownField> found;
    for_each_expression(value, [&](const Expression& expression) {
        for (const FieldRead& read : field_reads(expression)) {
            if (auto unknown = judge(read, known)) found.push_back(std::move(*unknown));
        }
    });
    return found;
}

}  // namespace ebb::expression
