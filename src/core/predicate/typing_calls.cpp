// What the functions of conditions take.

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/expression/names.h"
#include "core/predicate/typing.h"

namespace ebb::predicate {

namespace {

struct Signature {
    std::string_view name;
    Function function;
    Type result;
    std::array<Type, 3> arguments;
    std::size_t least;
    std::size_t most;
};

constexpr Type kText = Type::Text;
constexpr Type kInt = Type::Int4;

constexpr std::array<Signature, 13> kTextFunctions{{
    {"lower", Function::Lower, kText, {kText}, 1, 1},
    {"upper", Function::Upper, kText, {kText}, 1, 1},
    {"length", Function::Length, kInt, {kText}, 1, 1},
    {"char_length", Function::Length, kInt, {kText}, 1, 1},
    {"trim", Function::Trim, kText, {kText, kText}, 1, 2},
    {"btrim", Function::Trim, kText, {kText, kText}, 1, 2},
    {"ltrim", Function::LeftTrim, kText, {kText, kText}, 1, 2},
    {"rtrim", Function::RightTrim, kText, {kText, kText}, 1, 2},
    {"substring", Function::Substring, kText, {kText, kInt, kInt}, 2, 3},
    {"substr", Function::Substring, kText, {kText, kInt, kInt}, 2, 3},
    {"left", Function::Left, kText, {kText, kInt}, 2, 2},
    {"right", Function::Right, kText, {kText, kInt}, 2, 2},
    {"starts_with", Function::StartsWith, Type::Boolean, {kText, kText}, 2, 2},
}};

constexpr std::array<std::pair<std::string_view, Function>, 5> kNumberFunctions{{
    {"abs", Function::Abs},
    {"ceil", Function::Ceil},
    {"ceiling", Function::Ceil},
    {"floor", Function::Floor},
    {"round", Function::Round},
}};

std::string counted(std::size_t count) {
    return fmt::format("{} argument{}", count, count == 1 ? "" : "s");
}

}  // namespace

std::vector<NodeId> Typing::coerced_all(
    std::vector<NodeId> arguments, const std::vector<Type>& types, std::string_view name
) {
    for (std::size_t i = 0; i < arguments.size(); ++i) {
        arguments[i] = coerced(arguments[i], types[i], name);
    }
    return arguments;
}

NodeId Typing::rounding(Function function, std::vector<NodeId> arguments, Span span) {
    const std::size_t most = function == Function::Round ? 2 : 1;
    if (arguments.empty() || arguments.size() > most) {
        fail(span, fmt::format("The function takes {}.", counted(most)));
    }
    Type type = type_of(arguments[0]);
    if (!is_number(type)) {
        fail(
            span,
            fmt::format(
                "The function needs a number, but {} is {}.", shown(arguments[0]), spoken(type)
            )
        );
    }
    if (arguments.size() == 2) {
        if (type == Type::Double) {
            fail(span, "round to a number of digits is not defined for double precision: cast it.");
        }
        type = Type::Numeric;
        arguments[1] = coerced(arguments[1], Type::Int4, "round");
    } else if (function != Function::Abs && type != Type::Numeric) {
        type = Type::Double;  // which is what PostgreSQL prefers for whole numbers, too
    }
    arguments[0] = coerced(arguments[0], type, "The function");
    return add({.op = Op::Call, .type = type, .function = function}, arguments, span);
}

NodeId Typing::call(std::string_view name, std::vector<NodeId> arguments, Span span) {
    for (const auto& [known, function] : kNumberFunctions) {
        if (known == name) return rounding(function, std::move(arguments), span);
    }
    for (const Signature& signature : kTextFunctions) {
        if (signature.name != name) continue;
        if (arguments.size() < signature.least || arguments.size() > signature.most) {
            fail(
                span,
                signature.least == signature.most
                    ? fmt::format("{} takes {}.", name, counted(signature.most))
                    : fmt::format(
                          "{} takes {} to {} arguments.", name, signature.least, signature.most
                      )
            );
        }
        const std::vector<Type> types(signature.arguments.begin(), signature.arguments.end());
        return add(
            {.op = Op::Call, .type = signature.result, .function = signature.function},
            coerced_all(std::move(arguments), types, name),
            span
        );
    }
    check_function(name, span);
    return {};
}

void Typing::check_function(std::string_view name, Span span) const {
    std::vector<std::string_view> names{"coalesce", "nullif", "greatest", "least"};
    for (const Signature& signature : kTextFunctions) names.push_back(signature.name);
    for (const auto& [known, function] : kNumberFunctions) names.push_back(known);
    if (std::find(names.begin(), names.end(), name) != names.end()) return;
    std::sort(names.begin(), names.end());
    fail(
        span,
        fmt::format(
            "Conditions have no function \"{}\".{} Allowed are {}.",
            name,
            expression::did_you_mean(name, names),
            fmt::join(names, ", ")
        )
    );
}

}  // namespace ebb::predicate
