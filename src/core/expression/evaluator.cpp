#include "core/expression/evaluator.h"

#include <algorithm>
#include <array>

#include "core/expression/functions.h"
#include "core/expression/names.h"
#include "core/expression/operators.h"

namespace ebb::expression {

namespace {

constexpr std::array<std::string_view, 7> kVariables = {
    "input", "workflow", "steps", "instance", "attempt", "now", "metadata"
};

bool is_key_type(const Value& key) {
    return key.is(Kind::String) || key.is(Kind::Bool) || key.is(Kind::Int) || key.is(Kind::Uint);
}

}  // namespace

Evaluator::Evaluator(const Code& code, const Variables& variables)
    : code_(code), variables_(variables), context_(code), loops_(context_.arena()) {
    top_ = usual_stack_.data();
    if (code.stack_max > kStackUsual) {
        large_stack_.resize(code.stack_max);
        top_ = large_stack_.data();
    }
    if (code.loops_max > 0) loops_.reserve(code.loops_max);
}

Value Evaluator::run() {
    const Instruction* at = code_.instructions.data();
    while (at->op != Op::Return) {
        context_.set_place(at->place);
        at = step(at);
    }
    return pop();
}

/// Does one instruction; gives the next.
inline const Instruction* Evaluator::step(const Instruction* at) {
    switch (at->op) {
        case Op::Constant:
            push(code_.constants[at->arg]);
            break;
        case Op::Variable:
            push(variable(at->arg));
            break;
        case Op::Step:
        case Op::Attempts:
        case Op::HasStep:
            push(of_step(at->op, code_.names[at->arg]));
            break;
        case Op::Local:
            push(loops_[at->arg].current);
            break;
        case Op::Field:
            context_.charge(1);
            top() = field(context_, top(), code_.names[at->arg]);
            break;
        case Op::HasField:
            context_.charge(1);
            top() = has_field(context_, top(), code_.names[at->arg]);
            break;
        case Op::Negate:
            top() = negate(context_, top());
            break;
        case Op::Not:
            top() = logical_not(context_, top());
            break;
        case Op::SkipIfFalse:
        case Op::SkipIfTrue:
            if (top().is(Kind::Bool) && top().boolean == (at->op == Op::SkipIfTrue))
                return jump(at);
            break;
        case Op::Choose:
            return choose(at);
        case Op::Jump:
            return jump(at);
        case Op::NewList:
            push(list_value(context_.new_list(at->arg)));
            break;
        case Op::Append:
            append();
            break;
        case Op::NewMap:
            push(map_value(context_.new_map(at->arg)));
            break;
        case Op::Insert:
            insert();
            break;
        case Op::EndMap:
            end_map();
            break;
        case Op::Call:
            call(*at);
            break;
        case Op::LoopBegin:
        case Op::LoopNext:
        case Op::LoopSkip:
        case Op::LoopTest:
        case Op::LoopKeep:
        case Op::LoopEnd:
            return loop(at);
        default:
            binary(*at);
            break;
    }
    return at + 1;
}

const Instruction* Evaluator::loop(const Instruction* at) {
    switch (at->op) {
        case Op::LoopBegin:
            return begin_loop(at);
        case Op::LoopNext:
            return next_element(at);
        case Op::LoopSkip:
            return skip_element(at);
        case Op::LoopTest:
            return test_element(at);
        case Op::LoopKeep:
            return keep_element(at);
        default:
            push(loops_.back().result);
            loops_.pop_back();
            return at + 1;
    }
}

void Evaluator::binary(const Instruction& at) {
    context_.charge(1);
    const Value b = pop();
    Value& a = top();
    switch (at.op) {
        case Op::Add:
        case Op::Subtract:
        case Op::Multiply:
        case Op::Divide:
        case Op::Modulo:
            a = arithmetic(context_, at.op, a, b);
            break;
        case Op::And:
        case Op::Or:
            a = logical(context_, at.op, a, b);
            break;
        case Op::In:
            a = membership(context_, a, b);
            break;
        case Op::Index:
            a = index(context_, a, b);
            break;
        default:
            a = relation(context_, at.op, a, b);
            break;
    }
}

void Evaluator::call(const Instruction& at) {
    context_.charge(1);
    top_ -= at.count;
    const Arguments arguments(top_, at.count);
    const auto failed = std::find_if(arguments.begin(), arguments.end(), [](const Value& v) {
        return v.is(Kind::Failure);
    });
    const Value result =
        failed != arguments.end() ? *failed : functions()[at.arg].call(context_, arguments);
    push(result);
}

Value Evaluator::variable(std::uint32_t index) {
    const std::string_view name = code_.variables[index];
    if (const Json* json = variables_.find(name)) return json_value(*json);
    context_.charge(8);
    return context_.fail(
        "There is no variable \"{}\"; Ebb's are input, workflow, steps, instance, attempt, now and "
        "metadata.{}",
        name,
        did_you_mean(name, kVariables)
    );
}

Value Evaluator::of_step(Op op, std::string_view name) {
    if (op == Op::HasStep) return bool_value(variables_.find_step(name) != nullptr);
    return op == Op::Step ? completed_step(name) : attempts_of(name);
}

Value Evaluator::completed_step(std::string_view name) {
    if (const Json* json = variables_.find_step(name)) return json_value(*json);
    return context_.fail(
        "The step \"{0}\" has not completed; ask \"{0}\" in steps before reading it.", name
    );
}

Value Evaluator::attempts_of(std::string_view name) {
    if (const Json* json = variables_.find_attempts(name)) return json_value(*json);
    return context_.fail("The attempts of the step \"{}\" are not known here.", name);
}

const Instruction* Evaluator::choose(const Instruction* at) {
    const Value condition = pop();
    if (condition.is(Kind::Bool)) return condition.boolean ? at + 2 : jump(at);
    if (condition.is(Kind::Failure)) {
        push(condition);
    } else {
        push(context_.fail(
            "The condition before ? must be a bool, but this is {}.", a_type(condition)
        ));
    }
    return jump(at + 1);
}

void Evaluator::append() {
    context_.charge(1);
    const Value element = pop();
    if (top().is(Kind::Failure)) return;
    if (element.is(Kind::Failure)) {
        top() = element;
        return;
    }
    top().list->items.push_back(element);
}

void Evaluator::insert() {
    context_.charge(1);
    const Value value = pop();
    const Value key = pop();
    Value& map = top();
    if (map.is(Kind::Failure)) return;
    if (key.is(Kind::Failure)) {
        map = key;
    } else if (!is_key_type(key)) {
        map = context_.fail(
            "The key of a map is a string, an int, a uint or a bool, not {}.", a_type(key)
        );
    } else if (value.is(Kind::Failure)) {
        map = value;
    } else {
        map.map->entries.emplace_back(key, value);
    }
}

void Evaluator::end_map() {
    if (top().is(Kind::Failure)) return;
    auto& entries = top().map->entries;
    const auto less = [](const auto& a, const auto& b) { return key_less(a.first, b.first); };
    std::sort(entries.begin(), entries.end(), less);
    const auto repeated = std::adjacent_find(
        entries.begin(), entries.end(), [&](const auto& a, const auto& b) { return !less(a, b); }
    );
    if (repeated == entries.end()) return;
    const Arguments key(&repeated->first, 1);
    top() = context_.fail("The map has the key {} twice.", to_string(context_, key).string());
}

namespace {

bool can_jump(Op op) {
    switch (op) {
        case Op::SkipIfFalse:
        case Op::SkipIfTrue:
        case Op::Choose:
        case Op::Jump:
        case Op::LoopBegin:
        case Op::LoopNext:
        case Op::LoopSkip:
        case Op::LoopTest:
        case Op::LoopKeep:
            return true;
        default:
            return false;
    }
}

/// The places that other instructions than the one before them lead to.
std::vector<bool> jump_targets(const Code& code) {
    std::vector<bool> is_target(code.instructions.size(), false);
    for (const Instruction& each : code.instructions) {
        if (can_jump(each.op) && each.arg < is_target.size()) is_target[each.arg] = true;
    }
    return is_target;
}

}  // namespace

void check_literal_calls(const Code& code) {
    const std::vector<bool> is_target = jump_targets(code);
    std::vector<Value> literals;  // directly before the current instruction
    for (std::size_t i = 0; i < code.instructions.size(); ++i) {
        const Instruction& here = code.instructions[i];
        // `a ? "x" : 3` leaves another value, too.
        if (is_target[i]) literals.clear();
        if (here.op == Op::Constant) {
            literals.push_back(code.constants[here.arg]);
            continue;
        }
        if (here.op == Op::Call && here.count <= literals.size()) {
            Context context(code);
            context.set_place(here.place);
            const Value result =
                functions()[here.arg].call(context, Arguments(literals).last(here.count));
            if (result.is(Kind::Failure)) context.throw_failure(*result.failure);
        }
        literals.clear();
    }
}

}  // namespace ebb::expression
