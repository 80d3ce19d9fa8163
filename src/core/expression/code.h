#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "core/expression/expression.h"
#include "core/expression/value.h"

namespace ebb::expression {

/// The operations of the stack machine that runs an expression. It has no recursion: chains of
/// operators of any length run in constant stack.
enum class Op : std::uint8_t {
    Constant,  ///< pushes constants[arg]
    Variable,  ///< pushes the variable variables[arg]
    Step,      ///< pushes `steps.<names[arg]>`
    Attempts,  ///< pushes how the attempts of the step names[arg] went
    HasStep,   ///< pushes whether that step has completed
    Local,     ///< pushes the current element of loop number arg
    Field,     ///< top.<names[arg]>
    HasField,  ///< has(top.<names[arg]>)
    Index,
    Add,
    Subtract,
    Multiply,
    Divide,
    Modulo,
    Negate,
    Not,
    Equal,
    NotEqual,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    In,
    SkipIfFalse,  ///< before the right side of &&: jumps to arg when the top decides
    SkipIfTrue,   ///< the same of ||
    And,
    Or,
    Choose,  ///< pops the condition; false jumps to arg; an error takes its place and jumps to the
             ///< arg of the following Jump, which is otherwise skipped
    Jump,
    NewList,
    Append,  ///< pops an element into the list below
    NewMap,
    Insert,  ///< pops a key and a value into the map below
    EndMap,
    Call,       ///< function number arg with `count` arguments
    LoopBegin,  ///< pops what the macro `count` goes over; arg is its LoopEnd
    LoopNext,   ///< takes the next element, or jumps to arg
    LoopSkip,   ///< pops the filter of a map with three arguments; false jumps to arg
    LoopTest,   ///< pops the body of all, exists, exists_one or filter; jumps to arg to continue
    LoopKeep,   ///< pops the body of map; jumps to arg to continue
    LoopEnd,    ///< pushes the macro's result
    Return,
};

enum class Macro : std::uint8_t { All, Exists, ExistsOne, Filter, Map };

struct Instruction {
    Op op = Op::Return;
    std::uint8_t count = 0;
    std::uint32_t arg = 0;
    std::uint32_t place = 0;  ///< the byte of the source that an error names
};

/// A compiled expression. It is made in place and never moved, as names and constants point into
/// its source and its texts.
struct Code {
    Code() = default;
    Code(const Code&) = delete;
    Code& operator=(const Code&) = delete;

    std::string source;
    ExpressionLimits limits;
    std::vector<Instruction> instructions;
    std::vector<Value> constants;
    std::vector<std::string_view> names;
    std::vector<std::string_view> variables;
    std::deque<std::string> texts;  ///< literals whose value is not a part of the source
    std::size_t stack_max = 0;
    std::size_t loops_max = 0;
    std::vector<std::string> steps_read;
    std::vector<std::string> attempts_read;
    std::vector<std::string> variables_read;
};

}  // namespace ebb::expression
