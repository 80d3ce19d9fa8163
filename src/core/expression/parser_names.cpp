// Names, members, calls and macros.

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "core/expression/fixed_fields.h"
#include "core/expression/literal.h"
#include "core/expression/names.h"
#include "core/expression/parser.h"
#include "core/expression/source.h"

namespace ebb::expression {

namespace {

using Pair = std::pair<std::string_view, std::string_view>;

/// Why a function of CEL is missing, and what other languages call what is there.
constexpr auto kRemedies = std::to_array<Pair>({
    {"type", "type() is not supported: types are not values here."},
    {"bytes", "bytes() is not supported, as JSON has no bytes."},
    {"format", "format() is not supported; join strings with +, or write a template."},
    {"now", "\"now\" is a variable: write timestamp(now)."},
    {"length", "There is no function \"length\"; the length is size(x)."},
    {"len", "There is no function \"len\"; the length is size(x)."},
    {"count", "There is no function \"count\"; the length is size(x)."},
    {"lower", "There is no function \"lower\"; it is called lowerAscii()."},
    {"toLowerCase", "There is no function \"toLowerCase\"; it is called lowerAscii()."},
    {"upper", "There is no function \"upper\"; it is called upperAscii()."},
    {"toUpperCase", "There is no function \"toUpperCase\"; it is called upperAscii()."},
    {"includes", "There is no function \"includes\"; it is called contains(), or in for a list."},
    {"any", "There is no function \"any\"; it is called exists(x, condition)."},
    {"some", "There is no function \"some\"; it is called exists(x, condition)."},
    {"every", "There is no function \"every\"; it is called all(x, condition)."},
    {"float", "There is no function \"float\"; it is called double()."},
    {"str", "There is no function \"str\"; it is called string()."},
});

std::optional<Macro> find_macro(std::string_view name) {
    if (name == "all") return Macro::All;
    if (name == "exists") return Macro::Exists;
    if (name == "exists_one") return Macro::ExistsOne;
    if (name == "filter") return Macro::Filter;
    if (name == "map") return Macro::Map;
    return std::nullopt;
}

constexpr std::string_view kAttemptsField = "attempts";
constexpr std::string_view kErrorField = "error";

/// A field's name without its backticks.
std::string_view plain_name(const Token& token) {
    if (token.kind != TokenKind::QuotedName) return token.text;
    return token.text.substr(1, token.text.size() - 2);
}

std::string count_text(std::size_t min, std::size_t max) {
    if (min != max) return fmt::format("{} or {} arguments", min, max);
    if (min == 0) return "no arguments";
    return fmt::format("{} argument{}", min, min == 1 ? "" : "s");
}

}  // namespace

bool Parser::is_local(std::string_view name) const {
    return std::find(locals_.begin(), locals_.end(), name) != locals_.end();
}

Parser::Form Parser::name() {
    const Token name = advance();
    const auto local = std::find(locals_.rbegin(), locals_.rend(), name.text);
    if (is(TokenKind::LeftParen) || local == locals_.rend()) return global_name(name);
    const auto loop = static_cast<std::size_t>(std::distance(local, locals_.rend())) - 1;
    emit({.op = Op::Local, .arg = index_of(loop), .place = name.place}, 1);
    return Form::Other;
}

Parser::Form Parser::global_name(const Token& name) {
    if (is(TokenKind::LeftParen)) {
        if (name.text == "has") {
            has(name);
        } else {
            call(name);
        }
        return Form::Other;
    }
    if (is_reserved(name.text)) {
        fail(name, fmt::format("\"{}\" is a reserved word and cannot be a variable.", name.text));
    }
    if (name.text == "steps") return step(name);
    const auto known = std::find(code_.variables.begin(), code_.variables.end(), name.text);
    const auto index = static_cast<std::size_t>(known - code_.variables.begin());
    if (known == code_.variables.end()) {
        code_.variables.push_back(name.text);
        variables_.emplace_back(name.text);
    }
    emit({.op = Op::Variable, .arg = index_of(index), .place = name.place}, 1);
    return Form::Other;
}

/// Behind the name "steps".
Parser::Form Parser::step(const Token& steps) {
    constexpr std::string_view kAllowed =
        "A step is read by its name, as in steps.pay or steps[\"pay\"]";
    Token name;
    std::string_view text;
    if (accept(TokenKind::Dot)) {
        name = token_;
        if (!is(TokenKind::Name) && !is(TokenKind::QuotedName)) fail_unexpected("a step's name");
        advance();
        text = plain_name(name);
        if (is(TokenKind::LeftParen)) {
            fail(
                name, fmt::format("{}; steps is not a map, so it has no {}().", kAllowed, name.text)
            );
        }
    } else if (accept(TokenKind::LeftBracket)) {
        name = token_;
        if (!is(TokenKind::String) || peek().kind != TokenKind::RightBracket) {
            fail(
                name,
                fmt::format(
                    "{}. It cannot be computed, because Ebb must know before it runs which steps "
                    "an expression reads.",
                    kAllowed
                )
            );
        }
        string();
        text = code_.constants.back().string();
        code_.instructions.pop_back();
        --stack_;
        advance();
    } else {
        fail(steps, fmt::format("{}; steps alone is not a value.", kAllowed));
    }
    push_named(Op::Step, text, name);
    steps_.emplace_back(text);
    variables_.emplace_back("steps");
    return Form::Field;
}

Parser::Form Parser::member() {
    advance();
    const Token name = token_;
    if (!is(TokenKind::Name) && !is(TokenKind::QuotedName)) fail_unexpected("a field's name");
    advance();
    if (name.kind == TokenKind::Name && is(TokenKind::LeftParen)) {
        method(name);
        return Form::Other;
    }
    const std::string_view field = plain_name(name);
    const bool is_of_step = code_.instructions.back().op == Op::Step;
    if (is_of_step && (field == kAttemptsField || field == kErrorField)) {
        read_attempts();
    } else {
        check_attempt_field(name);
    }
    push_named(Op::Field, field, name);
    return Form::Field;
}

/// What was parsed as a step is only its attempts: its output is not read.
void Parser::read_attempts() {
    code_.instructions.back().op = Op::Attempts;
    attempts_.push_back(std::move(steps_.back()));
    steps_.pop_back();
}

/// Behind `steps.x.attempts` and `steps.x.error`: what is there is known.
void Parser::check_attempt_field(const Token& name) const {
    const std::vector<Instruction>& done = code_.instructions;
    const bool is_behind =
        done.size() > 1 && done.back().op == Op::Field && done[done.size() - 2].op == Op::Attempts;
    if (!is_behind) return;
    if (code_.names[done.back().arg] == kAttemptsField) {
        fail(name, "The attempts of a step are an int, which has no fields.");
    }
    const std::string_view field = plain_name(name);
    if (std::find(kErrorFields.begin(), kErrorFields.end(), field) != kErrorFields.end()) return;
    throw_at(
        code_.source,
        name.place,
        fmt::format(
            "The error of a step has no field \"{}\"; it has code, message and details.{}",
            field,
            did_you_mean(field, kErrorFields)
        ),
        nearest(field, kErrorFields)
    );
}

Parser::Form Parser::subscript() {
    const Token bracket = advance();
    expression();
    expect(TokenKind::RightBracket, "\"]\"");
    emit({.op = Op::Index, .place = bracket.place}, -1);
    return Form::Other;
}

/// From the opening to the closing parenthesis; how many they are.
std::size_t Parser::arguments() {
    expect(TokenKind::LeftParen, "\"(\"");
    std::size_t count = 0;
    if (accept(TokenKind::RightParen)) return count;
    do {
        expression();
        ++count;
    } while (accept(TokenKind::Comma));
    expect(TokenKind::RightParen, "\",\" or \")\"");
    return count;
}

void Parser::call(const Token& name) {
    const auto function = find_function(name.text, false);
    if (!function) fail_unknown_function(name, false);
    emit_call(name, *function, arguments());
}

void Parser::method(const Token& name) {
    if (const auto which = find_macro(name.text)) return macro(name, *which);
    const auto function = find_function(name.text, true);
    if (!function) fail_unknown_function(name, true);
    emit_call(name, *function, arguments() + 1);
}

void Parser::emit_call(const Token& name, std::size_t function, std::size_t count) {
    const Function& known = functions()[function];
    if (count < known.arguments_min || count > known.arguments_max) {
        const std::size_t receiver = known.is_method ? 1 : 0;
        fail(
            name,
            fmt::format(
                "{}() takes {}, but here it gets {}.",
                name.text,
                count_text(known.arguments_min - receiver, known.arguments_max - receiver),
                count - receiver
            )
        );
    }
    emit(
        {.op = Op::Call,
         .count = static_cast<std::uint8_t>(count),
         .arg = index_of(function),
         .place = name.place},
        1 - static_cast<int>(count)
    );
}

void Parser::has(const Token& name) {
    expect(TokenKind::LeftParen, "\"(\"");
    const Form form = expression();
    expect(TokenKind::RightParen, "\")\"");
    if (form != Form::Field) fail(name, "has() asks for a field, as in has(input.name).");
    Instruction& last = code_.instructions.back();
    last.op = last.op == Op::Step ? Op::HasStep : Op::HasField;
}

void Parser::macro(const Token& name, Macro macro) {
    advance();
    if (!is(TokenKind::Name) || peek().kind != TokenKind::Comma || is_reserved(token_.text)) {
        fail(
            token_,
            fmt::format(
                "{0}() takes a name for the element and an expression: list.{0}(x, {1}).",
                name.text,
                macro == Macro::Map ? "x.id" : "x > 0"
            )
        );
    }
    const Token local = advance();
    advance();
    const std::size_t begin = emit(
        {.op = Op::LoopBegin, .count = static_cast<std::uint8_t>(macro), .place = name.place}, -1
    );
    const std::size_t next = emit({.op = Op::LoopNext, .place = name.place}, 0);
    locals_.push_back(local.text);
    code_.loops_max = std::max(code_.loops_max, locals_.size());
    expression();
    if (macro == Macro::Map && accept(TokenKind::Comma)) {
        emit({.op = Op::LoopSkip, .arg = index_of(next), .place = name.place}, -1);
        expression();
    }
    expect(TokenKind::RightParen, "\")\"");
    locals_.pop_back();
    const Op last = macro == Macro::Map ? Op::LoopKeep : Op::LoopTest;
    emit({.op = last, .arg = index_of(next), .place = name.place}, -1);
    land(begin);
    land(next);
    emit({.op = Op::LoopEnd, .place = name.place}, 1);
}

void Parser::fail_unknown_function(const Token& name, bool is_method) const {
    const auto* const remedy = std::find_if(kRemedies.begin(), kRemedies.end(), [&](const Pair& p) {
        return p.first == name.text;
    });
    if (remedy != kRemedies.end()) fail(name, std::string(remedy->second));
    if (is_method && find_function(name.text, false)) {
        fail(name, fmt::format("{0}() is not called on a value: write {0}(x).", name.text));
    }
    if (!is_method && find_function(name.text, true)) {
        fail(name, fmt::format("{0}() is called on a value: write x.{0}().", name.text));
    }
    if (!is_method && find_macro(name.text)) {
        fail(name, fmt::format("{0}() is called on a list: list.{0}(x, ...).", name.text));
    }
    throw_at(
        code_.source,
        name.place,
        fmt::format(
            "There is no function \"{}\".{}", name.text, did_you_mean(name.text, callable_names())
        ),
        nearest(name.text, callable_names())
    );
}

}  // namespace ebb::expression
