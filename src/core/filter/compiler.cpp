#include "core/filter/compiler.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "core/expression/functions.h"
#include "core/expression/parser.h"
#include "core/expression/source.h"
#include "core/filter/status_words.h"
#include "core/model/label_values.h"
#include "core/model/words.h"
#include "support/clock.h"

namespace ebb::filter {

namespace {

using expression::Op;
using Kind = Field::Kind;

struct Column {
    std::string_view name;
    Kind kind;
    LabelType type;
};

constexpr std::array<Column, 9> kColumns = {{
    {"id", Kind::Id, LabelType::Text},
    {"workflow", Kind::Workflow, LabelType::Text},
    {"version", Kind::Version, LabelType::Number},
    {"status", Kind::Status, LabelType::Text},
    {"key", Kind::Key, LabelType::Text},
    {"priority", Kind::Priority, LabelType::Number},
    {"created", Kind::Created, LabelType::Time},
    {"updated", Kind::Updated, LabelType::Time},
    {"finished", Kind::Finished, LabelType::Time},
}};

constexpr std::array<Column, 3> kErrors = {{
    {"code", Kind::ErrorCode, LabelType::Text},
    {"step", Kind::ErrorStep, LabelType::Text},
    {"group", Kind::ErrorGroup, LabelType::Text},
}};

constexpr std::array<std::string_view, 13> kNames = {
    "id",
    "workflow",
    "version",
    "status",
    "key",
    "priority",
    "created",
    "updated",
    "finished",
    "labels",
    "tags",
    "error",
    "now"
};

template <std::size_t N>
const Column* find_column(const std::array<Column, N>& columns, std::string_view name) {
    const auto* const found = std::find_if(
        columns.begin(), columns.end(), [&](const Column& column) { return column.name == name; }
    );
    return found == columns.end() ? nullptr : found;
}

/// None: a label may have any.
std::optional<LabelType> type_of(const Field& field) {
    for (const Column& column : kColumns) {
        if (column.kind == field.kind) return column.type;
    }
    if (field.kind == Kind::Label) return std::nullopt;
    return LabelType::Text;
}

Operator mirrored(Operator op) {
    switch (op) {
        case Operator::Less:
            return Operator::Greater;
        case Operator::LessEqual:
            return Operator::GreaterEqual;
        case Operator::Greater:
            return Operator::Less;
        case Operator::GreaterEqual:
            return Operator::LessEqual;
        default:
            return op;
    }
}

bool is_equality(Operator op) {
    return op == Operator::Equal || op == Operator::NotEqual;
}

std::optional<Operator> operator_of(Op op) {
    switch (op) {
        case Op::Equal:
            return Operator::Equal;
        case Op::NotEqual:
            return Operator::NotEqual;
        case Op::Less:
            return Operator::Less;
        case Op::LessEqual:
            return Operator::LessEqual;
        case Op::Greater:
            return Operator::Greater;
        case Op::GreaterEqual:
            return Operator::GreaterEqual;
        default:
            return std::nullopt;
    }
}

std::string_view example_of(LabelType type) {
    constexpr std::array<std::string_view, 4> kExamples = {
        "a text, such as \"acme\"",
        "a number",
        "true or false",
        "a time: now - duration(\"7d\"), or timestamp(\"2026-01-31T08:00:00Z\")"
    };
    return kExamples[static_cast<std::size_t>(type)];
}

}  // namespace

std::string name_of(const Field& field) {
    for (const Column& column : kColumns) {
        if (column.kind == field.kind) return std::string(column.name);
    }
    for (const Column& column : kErrors) {
        if (column.kind == field.kind) return fmt::format("error.{}", column.name);
    }
    return fmt::format("labels.{}", field.label);
}

void Compiler::fail(std::uint32_t place, const std::string& message, std::string_view meant) const {
    expression::throw_at(code_.source, place, message, meant);
}

Compiler::Item Compiler::pop() {
    Item item = std::move(stack_.back());
    stack_.pop_back();
    return item;
}

void Compiler::push(
    std::variant<Condition, Field, Literal, Span, Null, List, Group> is,
    const Instruction& instruction
) {
    stack_.push_back({std::move(is), instruction.place});
}

Condition Compiler::run() {
    for (const Instruction& instruction : code_.instructions) {
        if (instruction.op == Op::Return) break;
        step(instruction);
    }
    return to_condition(pop());
}

void Compiler::step(const Instruction& instruction) {
    if (const auto op = operator_of(instruction.op)) return compare(*op, instruction);
    switch (instruction.op) {
        case Op::Constant:
            return constant(instruction);
        case Op::Variable:
            return variable(instruction);
        case Op::Field:
            return member(code_.names[instruction.arg], instruction);
        case Op::HasField: {
            member(code_.names[instruction.arg], instruction);
            const Item item = pop();
            const Field field = std::get<Field>(item.is);
            return push(comparison(field, Operator::Exists, {}, item.place), instruction);
        }
        case Op::Index: {
            const Item name = pop();
            const auto* const literal = std::get_if<Literal>(&name.is);
            if (literal == nullptr || literal->value.type() != LabelType::Text) {
                fail(instruction.place, "Only labels[\"NAME\"] can be written with brackets.");
            }
            return member(literal->value.text(), instruction);
        }
        case Op::In:
            return member_of(instruction);
        case Op::Not: {
            Condition negated{.kind = Condition::Kind::Not};
            negated.parts.push_back(to_condition(pop()));
            return push(std::move(negated), instruction);
        }
        case Op::SkipIfFalse:
        case Op::SkipIfTrue:
            return;
        case Op::And:
            return join(Condition::Kind::And, instruction);
        case Op::Or:
            return join(Condition::Kind::Or, instruction);
        case Op::NewList:
            return push(List{}, instruction);
        case Op::Append:
            return append(instruction);
        case Op::Call:
            return call(instruction);
        case Op::Add:
        case Op::Subtract:
            return shift(instruction);
        default:
            fail(
                instruction.place,
                "A filter cannot do this. It has comparisons of one field with one value, in, "
                "startsWith(), has(), &&, || and !."
            );
    }
}

void Compiler::constant(const Instruction& instruction) {
    const expression::Value& value = code_.constants[instruction.arg];
    switch (value.kind) {
        case expression::Kind::Null:
            return push(Null{}, instruction);
        case expression::Kind::Bool:
            return push(Literal{LabelValue(value.boolean)}, instruction);
        case expression::Kind::Int:
            return push(Literal{LabelValue(value.integer)}, instruction);
        case expression::Kind::Uint:
            return push(Literal{LabelValue(value.natural)}, instruction);
        case expression::Kind::Double:
            return push(Literal{LabelValue(value.number)}, instruction);
        case expression::Kind::String:
            if (value.string().find('\0') != std::string_view::npos) {
                fail(instruction.place, "A text of a filter cannot contain U+0000.");
            }
            return push(Literal{LabelValue(value.string())}, instruction);
        default:
            fail(instruction.place, "A filter cannot compare with a value of this type.");
    }
}

void Compiler::variable(const Instruction& instruction) {
    const std::string_view name = code_.variables[instruction.arg];
    if (const Column* column = find_column(kColumns, name)) {
        return push(Field{column->kind}, instruction);
    }
    if (name == "now") return push(Literal{LabelValue(now_)}, instruction);
    if (name == "labels" || name == "tags" || name == "error") {
        return push(Group{name}, instruction);
    }
    fail(
        instruction.place,
        fmt::format(
            "An instance has no field {}.{}", model::in_quotes(name), model::hint(name, kNames)
        ),
        model::closest(name, kNames)
    );
}

void Compiler::member(std::string_view name, const Instruction& instruction) {
    const Item item = pop();
    const auto* const group = std::get_if<Group>(&item.is);
    if (group != nullptr && group->name == "labels") {
        if (!is_label_name(name)) {
            fail(
                instruction.place,
                fmt::format("{} is not the name of a label.", model::in_quotes(name))
            );
        }
        return push(Field{Kind::Label, std::string(name)}, instruction);
    }
    if (group != nullptr && group->name == "error") {
        if (const Column* column = find_column(kErrors, name)) {
            return push(Field{column->kind}, instruction);
        }
        fail(instruction.place, "Of an error there are error.code, error.step and error.group.");
    }
    fail(instruction.place, "Only labels and error have parts: labels.NAME, error.code.");
}

Condition Compiler::comparison(
    const Field& field, Operator op, LabelValue operand, std::uint32_t place
) {
    if (++comparisons_ > Limits::kComparisonsMax) {
        fail(place, fmt::format("A filter has at most {} comparisons.", Limits::kComparisonsMax));
    }
    const auto type = type_of(field);
    const bool is_comparable = op == Operator::Exists || !type || *type == operand.type();
    if (!is_comparable) {
        fail(place, fmt::format("Compare {} with {}.", name_of(field), example_of(*type)));
    }
    const bool is_ordered = !is_equality(op) && op != Operator::Exists;
    const bool has_no_order =
        field.kind == Kind::Id || field.kind == Kind::Status || operand.type() == LabelType::Bool;
    if (is_ordered && has_no_order) {
        fail(place, fmt::format("Compare {} with == or != here.", name_of(field)));
    }
    if (field.kind == Kind::Status && op != Operator::Exists && !parse_status(operand.text())) {
        fail(place, unknown_status(operand.text()));
    }
    if (field.kind == Kind::Id && op != Operator::Exists) {
        const auto id = InstanceId::parse(operand.text());
        if (!id) fail(place, fmt::format("{} is not an id.", model::in_quotes(operand.text())));
        operand = id->to_string();
    }
    Condition condition{.kind = Condition::Kind::Compare, .field = field, .op = op};
    condition.operand = std::move(operand);
    return condition;
}

void Compiler::compare(Operator op, const Instruction& instruction) {
    Item right = pop();
    Item left = pop();
    const bool is_flipped = std::holds_alternative<Field>(right.is);
    if (is_flipped) {
        std::swap(left, right);
        op = mirrored(op);
    }
    const auto* const field = std::get_if<Field>(&left.is);
    auto* const literal = std::get_if<Literal>(&right.is);
    if (std::holds_alternative<Null>(right.is)) {
        fail(right.place, "Write has(labels.NAME) or !has(labels.NAME) instead of null.");
    }
    if (field == nullptr || literal == nullptr) {
        fail(
            instruction.place,
            "A comparison of a filter has a field of the instance on one side and a value on the "
            "other."
        );
    }
    push(comparison(*field, op, std::move(literal->value), instruction.place), instruction);
}

void Compiler::member_of(const Instruction& instruction) {
    Item right = pop();
    Item left = pop();
    const auto* const group = std::get_if<Group>(&right.is);
    auto* const literal = std::get_if<Literal>(&left.is);
    if (group != nullptr && group->name != "error" && literal != nullptr &&
        literal->value.type() == LabelType::Text) {
        const Field field{Kind::Label, literal->value.text()};
        if (!is_label_name(field.label)) {
            fail(
                left.place,
                fmt::format("{} is not the name of a label.", model::in_quotes(field.label))
            );
        }
        const bool is_tag = group->name == "tags";
        const Operator op = is_tag ? Operator::Equal : Operator::Exists;
        const LabelValue operand = is_tag ? LabelValue(true) : LabelValue();
        return push(comparison(field, op, operand, instruction.place), instruction);
    }
    const auto* const field = std::get_if<Field>(&left.is);
    auto* const list = std::get_if<List>(&right.is);
    if (field == nullptr || list == nullptr) {
        fail(
            instruction.place,
            "Write \"NAME\" in tags, \"NAME\" in labels, or FIELD in [VALUE, VALUE]."
        );
    }
    Condition any{.kind = Condition::Kind::Or};
    for (LabelValue& value : list->values) {
        any.parts.push_back(comparison(*field, Operator::Equal, std::move(value), instruction.place)
        );
    }
    if (any.parts.empty()) return push(Condition{.value = false}, instruction);
    if (any.parts.size() == 1) return push(Condition(any.parts.front()), instruction);
    push(std::move(any), instruction);
}

void Compiler::append(const Instruction& instruction) {
    Item item = pop();
    auto* const literal = std::get_if<Literal>(&item.is);
    if (literal == nullptr) fail(instruction.place, "A list of a filter consists of values.");
    auto& values = std::get<List>(stack_.back().is).values;
    if (values.size() == Limits::kAlternativesMax) {
        fail(
            instruction.place,
            fmt::format("A list of a filter has at most {} values.", Limits::kAlternativesMax)
        );
    }
    values.push_back(std::move(literal->value));
}

Condition Compiler::to_condition(Item item) {
    if (auto* const condition = std::get_if<Condition>(&item.is)) return std::move(*condition);
    if (const auto* const field = std::get_if<Field>(&item.is)) {
        if (field->kind == Kind::Label) {
            return comparison(*field, Operator::Equal, true, item.place);
        }
    }
    if (const auto* const literal = std::get_if<Literal>(&item.is)) {
        if (literal->value.type() == LabelType::Bool) {
            return {.value = literal->value.boolean()};
        }
    }
    fail(item.place, "A condition is needed here, such as labels.customer == \"acme\".");
}

void Compiler::join(Condition::Kind kind, const Instruction& instruction) {
    Condition right = to_condition(pop());
    Condition left = to_condition(pop());
    Condition joined{.kind = kind};
    for (Condition* side : {&left, &right}) {
        if (side->kind == kind) {
            std::move(side->parts.begin(), side->parts.end(), std::back_inserter(joined.parts));
        } else {
            joined.parts.push_back(std::move(*side));
        }
    }
    if (kind == Condition::Kind::Or && joined.parts.size() > Limits::kAlternativesMax) {
        fail(
            instruction.place,
            fmt::format("An || of a filter has at most {} alternatives.", Limits::kAlternativesMax)
        );
    }
    push(std::move(joined), instruction);
}

const std::string& Compiler::text_argument(const Item& item, std::string_view function) {
    const auto* const literal = std::get_if<Literal>(&item.is);
    if (literal != nullptr && literal->value.type() == LabelType::Text) {
        return literal->value.text();
    }
    fail(item.place, fmt::format("{}() takes a text here.", function));
}

void Compiler::call(const Instruction& instruction) {
    const expression::Function& function = expression::functions()[instruction.arg];
    if (function.name == "timestamp") {
        Item item = pop();
        const auto* const literal = std::get_if<Literal>(&item.is);
        const bool is_time = literal != nullptr && literal->value.type() == LabelType::Time;
        if (is_time) return push(*literal, instruction);
        const auto time = parse_time(text_argument(item, "timestamp"));
        if (!time) {
            fail(item.place, "This is not a time; write \"2026-01-31T08:00:00Z\".");
        }
        return push(Literal{LabelValue(*time)}, instruction);
    }
    if (function.name == "duration") {
        const Item item = pop();
        const auto length = parse_duration(text_argument(item, "duration"));
        if (!length) fail(item.place, "This is not a duration; write \"7d\" or \"1h30m\".");
        return push(Span{*length}, instruction);
    }
    if (function.name == "startsWith") {
        const Item prefix = pop();
        const Item item = pop();
        const auto* const field = std::get_if<Field>(&item.is);
        if (field == nullptr) fail(item.place, "startsWith() is called on a field of a filter.");
        return push(
            comparison(
                *field, Operator::StartsWith, text_argument(prefix, "startsWith"), instruction.place
            ),
            instruction
        );
    }
    fail(
        instruction.place,
        fmt::format(
            "A filter cannot call {}(): there are timestamp(), duration(), startsWith() and has().",
            function.name
        )
    );
}

void Compiler::shift(const Instruction& instruction) {
    const Item right = pop();
    const Item left = pop();
    const auto* const literal = std::get_if<Literal>(&left.is);
    const auto* const span = std::get_if<Span>(&right.is);
    const bool is_time = literal != nullptr && literal->value.type() == LabelType::Time;
    if (!is_time || span == nullptr) {
        fail(
            instruction.place,
            "A filter calculates with times only: now - duration(\"7d\"), or a timestamp."
        );
    }
    const TimePoint time = literal->value.time();
    const bool is_later = instruction.op == Op::Add;
    const Duration by = is_later ? span->length : -span->length;
    const bool fits = is_later ? by <= TimePoint::max() - std::max(time, TimePoint{})
                               : by >= TimePoint::min() - std::min(time, TimePoint{});
    if (!fits) fail(instruction.place, "This time is too far away.");
    push(Literal{LabelValue(time + by)}, instruction);
}

Condition compile(std::string_view source, TimePoint now) {
    expression::Code code;
    code.source = source;
    code.limits.source_bytes_max = Limits::kSourceBytesMax;
    code.limits.depth_max = Limits::kDepthMax;
    expression::Parser(code).run();
    return Compiler(code, now).run();
}

}  // namespace ebb::filter
