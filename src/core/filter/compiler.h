#pragma once

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/expression/code.h"
#include "core/filter/filter.h"

namespace ebb::filter {

/// Turns compiled code back into a tree: runs it on a stack of what its instructions stand for.
class Compiler {
 public:
    Compiler(const expression::Code& code, TimePoint now) : code_(code), now_(now) {}

    /// Throws ExpressionError for what a filter cannot do.
    Condition run();

 private:
    struct Literal {
        LabelValue value;
    };

    struct Span {
        Duration length{};
    };

    struct Null {};

    struct List {
        std::vector<LabelValue> values;
    };

    /// `labels`, `tags`, `error`: something of it is still to be named.
    struct Group {
        std::string_view name;
    };

    struct Item {
        std::variant<Condition, Field, Literal, Span, Null, List, Group> is;
        std::uint32_t place = 0;
    };

    using Instruction = expression::Instruction;

    void step(const Instruction& instruction);
    Item pop();
    void push(
        std::variant<Condition, Field, Literal, Span, Null, List, Group> is,
        const Instruction& instruction
    );
    void constant(const Instruction& instruction);
    void variable(const Instruction& instruction);
    void member(std::string_view name, const Instruction& instruction);
    void compare(Operator op, const Instruction& instruction);
    void member_of(const Instruction& instruction);
    void join(Condition::Kind kind, const Instruction& instruction);
    void call(const Instruction& instruction);
    void shift(const Instruction& instruction);
    void append(const Instruction& instruction);
    Condition comparison(const Field& field, Operator op, LabelValue operand, std::uint32_t place);
    Condition to_condition(Item item);
    const std::string& text_argument(const Item& item, std::string_view function);
    [[noreturn]] void fail(
        std::uint32_t place, const std::string& message, std::string_view meant = {}
    ) const;

    const expression::Code& code_;
    const TimePoint now_;
    std::vector<Item> stack_;
    int comparisons_ = 0;
};

/// As it is written: `labels.customer`, `error.code`, `created`.
std::string name_of(const Field& field);

}  // namespace ebb::filter
