#pragma once

#include <array>
#include <memory_resource>
#include <vector>

#include "core/expression/code.h"
#include "core/expression/context.h"

namespace ebb::expression {

/// One evaluation of an expression: a stack machine without recursion.
class Evaluator {
 public:
    Evaluator(const Code& code, const Variables& variables);

    /// Call it once. The result lives as long as this and the variables. Throws ExpressionError.
    Value run();

    Context& context() { return context_; }

 private:
    /// A macro at work.
    struct Loop {
        Macro macro = Macro::All;
        Value range = null_value();
        std::size_t index = 0;
        std::size_t size = 0;
        MapCursor cursor;
        Value current = null_value();
        Value result = null_value();
        std::int64_t matches = 0;
    };

    const Instruction* step(const Instruction* at);
    const Instruction* loop(const Instruction* at);

    const Instruction* jump(const Instruction* at) const {
        return code_.instructions.data() + at->arg;
    }

    void binary(const Instruction& at);
    void call(const Instruction& at);
    Value variable(std::uint32_t index);
    Value of_step(Op op, std::string_view name);
    Value completed_step(std::string_view name);
    Value attempts_of(std::string_view name);
    const Instruction* choose(const Instruction* at);
    void append();
    void insert();
    void end_map();

    const Instruction* begin_loop(const Instruction* at);
    const Instruction* next_element(const Instruction* at);
    const Instruction* skip_element(const Instruction* at);
    const Instruction* test_element(const Instruction* at);
    const Instruction* keep_element(const Instruction* at);
    const Instruction* leave_loop(const Instruction* at, const Value& result);

    void push(const Value& value) { *top_++ = value; }

    Value pop() { return *--top_; }

    Value& top() { return top_[-1]; }

    static constexpr std::size_t kStackUsual = 16;

    const Code& code_;
    const Variables& variables_;
    Context context_;
    // Not initialized: what is above the top is never read.
    std::array<Value, kStackUsual> usual_stack_;
    std::vector<Value> large_stack_;
    Value* top_ = nullptr;
    std::pmr::vector<Loop> loops_;
};

/// Throws ExpressionError if a function is called with nothing but literals and never takes these,
/// as in `size(3)`, wherever in the expression that is.
void check_literal_calls(const Code& code);

}  // namespace ebb::expression
