// The macros all, exists, exists_one, filter and map.

#include "core/expression/evaluator.h"
#include "core/expression/functions.h"

namespace ebb::expression {

/// Every loop ends at its LoopEnd, which takes it off and pushes its result.
const Instruction* Evaluator::leave_loop(const Instruction* at, const Value& result) {
    loops_.back().result = result;
    return jump(at);
}

const Instruction* Evaluator::begin_loop(const Instruction* at) {
    const Value range = pop();
    Loop& loop = loops_.emplace_back();
    loop.macro = static_cast<Macro>(at->count);
    loop.range = range;
    if (range.is(Kind::Failure)) return leave_loop(at, range);
    if (range.is_list()) {
        loop.size = list_size(range);
    } else if (range.is_map()) {
        loop.cursor = MapCursor(range);
    } else {
        return leave_loop(
            at,
            context_.fail(
                "{}() needs a list or a map, but this is {}.", name_of(loop.macro), a_type(range)
            )
        );
    }
    switch (loop.macro) {
        case Macro::All:
            loop.result = bool_value(true);
            break;
        case Macro::Exists:
            loop.result = bool_value(false);
            break;
        case Macro::ExistsOne:
            loop.result = null_value();
            break;
        case Macro::Filter:
        case Macro::Map:
            loop.result = list_value(context_.new_list());
            break;
    }
    return at + 1;
}

const Instruction* Evaluator::next_element(const Instruction* at) {
    Loop& loop = loops_.back();
    const bool is_list = loop.range.is_list();
    if (is_list ? loop.index == loop.size : loop.cursor.is_done()) {
        if (loop.macro == Macro::ExistsOne) loop.result = bool_value(loop.matches == 1);
        return jump(at);
    }
    context_.charge(1);
    if (is_list) {
        loop.current = list_at(loop.range, loop.index++);
    } else {
        loop.current = loop.cursor.key();
        loop.cursor.next();
    }
    return at + 1;
}

const Instruction* Evaluator::skip_element(const Instruction* at) {
    const Value test = pop();
    if (test.is(Kind::Bool)) return test.boolean ? at + 1 : jump(at);
    const Instruction* next = jump(at);
    if (test.is(Kind::Failure)) return leave_loop(next, test);
    return leave_loop(
        next, context_.fail("The filter of map() must be a bool, but this is {}.", a_type(test))
    );
}

/// `at->arg` is the loop's LoopNext, whose own arg is the way out.
const Instruction* Evaluator::test_element(const Instruction* at) {
    Loop& loop = loops_.back();
    const Instruction* next = jump(at);
    Value test = pop();
    if (!test.is(Kind::Bool) && !test.is(Kind::Failure)) {
        test = context_.fail(
            "The condition of {}() must be a bool, but this is {}.",
            name_of(loop.macro),
            a_type(test)
        );
    }
    if (loop.macro == Macro::All || loop.macro == Macro::Exists) {
        // As in a chain of && or ||: the first element that decides absorbs all errors.
        const bool decisive = loop.macro == Macro::Exists;
        if (test.is(Kind::Bool)) {
            return test.boolean == decisive ? leave_loop(next, test) : next;
        }
        if (!loop.result.is(Kind::Failure)) loop.result = test;
        return next;
    }
    if (test.is(Kind::Failure)) return leave_loop(next, test);
    if (!test.boolean) return next;
    if (loop.macro == Macro::ExistsOne) {
        ++loop.matches;
    } else {
        context_.charge(1);
        context_.check_elements(loop.result.list->items.size() + 1);
        loop.result.list->items.push_back(loop.current);
    }
    return next;
}

const Instruction* Evaluator::keep_element(const Instruction* at) {
    const Instruction* next = jump(at);
    const Value element = pop();
    if (element.is(Kind::Failure)) return leave_loop(next, element);
    auto& items = loops_.back().result.list->items;
    context_.charge(1);
    context_.check_elements(items.size() + 1);
    items.push_back(element);
    return next;
}

}  // namespace ebb::expression
