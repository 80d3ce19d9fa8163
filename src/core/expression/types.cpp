#include "core/expression/types.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/expression/code.h"
#include "core/expression/functions.h"

namespace ebb::expression {

namespace {

using Set = StaticType::Set;

/// References and alternatives of a schema may be nested this deep.
constexpr int kDepthMax = 16;

struct TypeName {
    Set type;
    std::string_view name;
};

constexpr std::array<TypeName, 10> kNames = {{
    {StaticType::kBool, "bool"},
    {StaticType::kInt, "int"},
    {StaticType::kUint, "uint"},
    {StaticType::kDouble, "double"},
    {StaticType::kString, "string"},
    {StaticType::kList, "list"},
    {StaticType::kMap, "map"},
    {StaticType::kTimestamp, "timestamp"},
    {StaticType::kDuration, "duration"},
    {StaticType::kNull, "null"},
}};

StaticType only(Set set) {
    return {.set = set};
}

StaticType either(const StaticType& a, const StaticType& b) {
    if (a.set == b.set && a.schema == b.schema && a.fields == b.fields) return a;
    return only(static_cast<Set>(a.set | b.set));
}

/// What `type:` of a JSON Schema says.
Set set_of_word(const Json& word) {
    if (word == "string") return StaticType::kString;
    if (word == "integer") return StaticType::kInt;
    if (word == "number") return StaticType::kInt | StaticType::kDouble;
    if (word == "boolean") return StaticType::kBool;
    if (word == "null") return StaticType::kNull;
    if (word == "array") return StaticType::kList;
    if (word == "object") return StaticType::kMap;
    return StaticType::kAny;
}

Set set_of_value(const Json& value) {
    switch (value.type()) {
        case Json::value_t::null:
            return StaticType::kNull;
        case Json::value_t::boolean:
            return StaticType::kBool;
        case Json::value_t::number_integer:
        case Json::value_t::number_unsigned:
            return StaticType::kInt;
        case Json::value_t::number_float:
            return StaticType::kDouble;
        case Json::value_t::string:
            return StaticType::kString;
        case Json::value_t::array:
            return StaticType::kList;
        case Json::value_t::object:
            return StaticType::kMap;
        default:
            return StaticType::kAny;
    }
}

StaticType read_schema(const Json& schema, const Json& root, int depth);

/// What `#/definitions/x` leads to; null if it leads nowhere.
const Json* referred(const Json& reference, const Json& root) {
    if (!reference.is_string()) return nullptr;
    const auto& text = reference.get_ref<const std::string&>();
    if (!text.starts_with('#')) return nullptr;
    try {
        const Json::json_pointer pointer(text.substr(1));
        return root.contains(pointer) ? &root.at(pointer) : nullptr;
    } catch (const Json::exception&) {
        return nullptr;
    }
}

std::optional<StaticType> read_alternatives(
    const Json& schema, const Json& root, const char* key, int depth
) {
    const auto list = schema.find(key);
    if (list == schema.end() || !list->is_array() || list->empty()) return std::nullopt;
    std::optional<StaticType> type;
    for (const Json& alternative : *list) {
        const StaticType one = read_schema(alternative, root, depth + 1);
        type = type ? either(*type, one) : one;
    }
    return type;
}

StaticType read_schema(const Json& schema, const Json& root, int depth) {
    if (!schema.is_object() || depth > kDepthMax) return {};
    if (const auto reference = schema.find("$ref"); reference != schema.end()) {
        const Json* part = referred(*reference, root);
        return part == nullptr ? StaticType{} : read_schema(*part, root, depth + 1);
    }
    StaticType type{.schema = &schema, .root = &root};
    const auto word = schema.find("type");
    if (word != schema.end()) {
        if (!word->is_array()) {
            type.set = set_of_word(*word);
            return type;
        }
        type.set = 0;
        for (const Json& one : *word) type.set = static_cast<Set>(type.set | set_of_word(one));
        return type;
    }
    if (const auto value = schema.find("const"); value != schema.end()) {
        return only(set_of_value(*value));
    }
    if (const auto values = schema.find("enum"); values != schema.end() && values->is_array()) {
        Set set = 0;
        for (const Json& value : *values) set = static_cast<Set>(set | set_of_value(value));
        return only(set);
    }
    for (const char* key : {"anyOf", "oneOf"}) {
        if (auto found = read_alternatives(schema, root, key, depth)) return *found;
    }
    // Without a type anything is allowed; what has properties is meant to be a map.
    if (schema.contains("properties")) type.set = StaticType::kMap;
    if (schema.contains("items")) type.set = StaticType::kList;
    return type;
}

StaticType part_of_schema(const StaticType& type, const Json& part) {
    return type_of_schema(part, type.root == nullptr ? part : *type.root);
}

StaticType field_of(const StaticType& map, std::string_view name) {
    if (map.fields) {
        const auto found = map.fields->find(name);
        return found == map.fields->end() ? StaticType{} : found->second;
    }
    if (map.schema == nullptr) return {};
    const auto properties = map.schema->find("properties");
    if (properties != map.schema->end() && properties->is_object()) {
        const auto found = properties->find(std::string(name));
        if (found != properties->end()) return part_of_schema(map, *found);
    }
    const auto others = map.schema->find("additionalProperties");
    const bool is_known = others != map.schema->end() && others->is_object();
    return is_known ? part_of_schema(map, *others) : StaticType{};
}

StaticType element_of(const StaticType& list) {
    if (list.schema == nullptr) return {};
    const auto items = list.schema->find("items");
    const bool is_known = items != list.schema->end() && items->is_object();
    return is_known ? part_of_schema(list, *items) : StaticType{};
}

/// Operands are of one type, but for times.
Set sum_of(Op op, Set a, Set b) {
    constexpr Set kNumbers = StaticType::kInt | StaticType::kUint | StaticType::kDouble;
    Set alike = kNumbers;
    if (op == Op::Modulo) alike = StaticType::kInt | StaticType::kUint;
    if (op == Op::Add) alike |= StaticType::kString | StaticType::kList | StaticType::kDuration;
    if (op == Op::Subtract) alike |= StaticType::kDuration;
    auto result = static_cast<Set>(a & b & alike);
    const bool is_sum = op == Op::Add || op == Op::Subtract;
    const bool begins_at_time = (a & StaticType::kTimestamp) != 0;
    if (!is_sum) return result;
    if (begins_at_time && (b & StaticType::kDuration) != 0) result |= StaticType::kTimestamp;
    const bool ends_at_time = (b & StaticType::kTimestamp) != 0;
    if (op == Op::Add && ends_at_time && (a & StaticType::kDuration) != 0) {
        result |= StaticType::kTimestamp;
    }
    if (op == Op::Subtract && begins_at_time && ends_at_time) result |= StaticType::kDuration;
    return result;
}

/// `a string, a list or a map`; empty if it can be nothing.
std::string with_articles(Set set) {
    std::vector<std::string_view> names;
    for (const TypeName& one : kNames) {
        if ((set & one.type) != 0) names.push_back(one.name);
    }
    std::string text;
    for (std::size_t i = 0; i < names.size(); ++i) {
        if (i > 0) text += i + 1 == names.size() ? " or " : ", ";
        if (names[i] != "null") text += names[i] == "int" ? "an " : "a ";
        text += names[i];
    }
    return text;
}

/// Argument number `at` of a function, or its receiver.
std::string wrong_argument(const Function& function, std::size_t at, Set found) {
    const std::size_t receiver = function.is_method ? 1 : 0;
    const std::string wanted = with_articles(function.takes[at]);
    if (at < receiver) {
        return fmt::format(
            "{}() is called on {}, but here on {}.", function.name, wanted, with_articles(found)
        );
    }
    if (function.arguments_max == receiver + 1) {
        return fmt::format(
            "{}() takes {}, but here it gets {}.", function.name, wanted, with_articles(found)
        );
    }
    return fmt::format(
        "Argument {} of {}() is {}, but here it is {}.",
        at + 1 - receiver,
        function.name,
        wanted,
        with_articles(found)
    );
}

/// Whether no value of the one can be of the other. What can have no type is wrong elsewhere.
bool excludes(Set wanted, Set found) {
    return found != 0 && (wanted & found) == 0;
}

Set set_of_constant(const Value& value) {
    switch (value.kind) {
        case Kind::Null:
            return StaticType::kNull;
        case Kind::Bool:
            return StaticType::kBool;
        case Kind::Int:
            return StaticType::kInt;
        case Kind::Uint:
            return StaticType::kUint;
        case Kind::Double:
            return StaticType::kDouble;
        case Kind::String:
            return StaticType::kString;
        default:
            return StaticType::kAny;
    }
}

/// Runs an expression on types: once through its instructions, and both sides of every choice.
class TypeRun {
 public:
    TypeRun(const Code& code, const TypeSource& source) : code_(code), source_(source) {}

    /// Of the calls that always fail, in the order of evaluation.
    const std::vector<WrongCall>& wrong_calls() const { return wrong_calls_; }

    StaticType run() {
        for (std::size_t at = 0; at < code_.instructions.size(); ++at) {
            join(at);
            const Instruction& here = code_.instructions[at];
            if (here.op == Op::Return) break;
            if (here.op == Op::Choose) {
                pop();
                // The way of an error follows.
                ++at;
            } else if (here.op == Op::Jump) {
                leave(here.arg);
            } else {
                step(at, here);
            }
        }
        return stack_.empty() ? StaticType{} : stack_.back();
    }

 private:
    struct Loop {
        Macro macro = Macro::All;
        StaticType range{};
    };

    const Code& code_;
    const TypeSource& source_;
    std::vector<StaticType> stack_;
    std::vector<Loop> loops_;
    std::vector<WrongCall> wrong_calls_;
    std::map<std::size_t, StaticType> arrivals_;  ///< of the other sides of choices

    StaticType pop() {
        if (stack_.empty()) return {};
        StaticType top = std::move(stack_.back());
        stack_.pop_back();
        return top;
    }

    void push(StaticType type) { stack_.push_back(std::move(type)); }

    /// One side of a choice has its value, and continues behind the other one.
    void leave(std::size_t target) {
        const StaticType type = pop();
        const auto [found, is_new] = arrivals_.emplace(target, type);
        if (!is_new) found->second = either(found->second, type);
    }

    void join(std::size_t at) {
        const auto found = arrivals_.find(at);
        if (found != arrivals_.end()) push(either(pop(), found->second));
    }

    void step(std::size_t at, const Instruction& here) {
        switch (here.op) {
            case Op::Constant:
                return push(only(set_of_constant(code_.constants[here.arg])));
            case Op::Variable:
                return push(source_.variable(code_.variables[here.arg]));
            case Op::Step:
                return push(source_.step(code_.names[here.arg]));
            case Op::Attempts:
                return push(attempts());
            case Op::HasStep:
                return push(only(StaticType::kBool));
            case Op::Local:
                return push(current(here.arg));
            case Op::Field:
                return push(field_of(pop(), code_.names[here.arg]));
            case Op::HasField:
            case Op::Not:
                pop();
                return push(only(StaticType::kBool));
            case Op::Negate:
                return push(
                    only(static_cast<Set>(pop().set & (StaticType::kInt | StaticType::kDouble)))
                );
            case Op::Index:
                return index(at);
            case Op::Add:
            case Op::Subtract:
            case Op::Multiply:
            case Op::Divide:
            case Op::Modulo: {
                const Set b = pop().set;
                return push(only(sum_of(here.op, pop().set, b)));
            }
            case Op::SkipIfFalse:
            case Op::SkipIfTrue:
            case Op::LoopNext:
            case Op::EndMap:
                return;
            case Op::NewList:
                return push(only(StaticType::kList));
            case Op::NewMap:
                return push(only(StaticType::kMap));
            case Op::Append:
                pop();
                return;
            case Op::Insert:
                pop();
                pop();
                return;
            case Op::Call:
                return call(here);
            case Op::LoopBegin:
                return begin_loop(here);
            case Op::LoopSkip:
            case Op::LoopTest:
            case Op::LoopKeep:
                pop();
                return;
            case Op::LoopEnd:
                return end_loop();
            default:
                // The comparisons, &&, || and in.
                pop();
                pop();
                return push(only(StaticType::kBool));
        }
    }

    static StaticType attempts() {
        StaticType error =
            map_with({{"code", only(StaticType::kString)}, {"message", only(StaticType::kString)}});
        return map_with({{"attempts", only(StaticType::kInt)}, {"error", std::move(error)}});
    }

    StaticType current(std::size_t loop) const {
        if (loop >= loops_.size()) return {};
        const StaticType& range = loops_[loop].range;
        if (range.set == StaticType::kList) return element_of(range);
        return {};
    }

    void index(std::size_t at) {
        pop();
        const StaticType container = pop();
        if (container.set == StaticType::kList) return push(element_of(container));
        const Instruction& before = code_.instructions[at - 1];
        const bool is_text =
            before.op == Op::Constant && code_.constants[before.arg].kind == Kind::String;
        push(is_text ? field_of(container, code_.constants[before.arg].string()) : StaticType{});
    }

    void note_wrong(const Instruction& here, std::string message) {
        wrong_calls_.push_back(
            {.message = std::move(message), .span = token_at(code_.source, here.place)}
        );
    }

    void call(const Instruction& here) {
        const Function& function = functions()[here.arg];
        StaticType argument;
        std::string message;
        for (std::size_t at = here.count; at-- > 0;) {
            argument = pop();
            if (!excludes(function.takes[at], argument.set)) continue;
            message = wrong_argument(function, at, argument.set);
        }
        if (!message.empty()) note_wrong(here, std::move(message));
        push(function.result == 0 ? argument : only(function.result));
    }

    void begin_loop(const Instruction& here) {
        constexpr Set kRanges = StaticType::kList | StaticType::kMap;
        Loop loop{.macro = static_cast<Macro>(here.count), .range = pop()};
        if (excludes(kRanges, loop.range.set)) {
            note_wrong(
                here,
                fmt::format(
                    "{}() is called on {}, but here on {}.",
                    name_of(loop.macro),
                    with_articles(kRanges),
                    with_articles(loop.range.set)
                )
            );
        }
        loops_.push_back(std::move(loop));
    }

    void end_loop() {
        if (loops_.empty()) return push({});
        const Loop loop = std::move(loops_.back());
        loops_.pop_back();
        if (loop.macro == Macro::Map) return push(only(StaticType::kList));
        if (loop.macro != Macro::Filter) return push(only(StaticType::kBool));
        push(loop.range.set == StaticType::kList ? loop.range : only(StaticType::kList));
    }
};

}  // namespace

StaticType type_of_schema(const Json& schema, const Json& root) {
    return read_schema(schema, root, 0);
}

StaticType map_with(StaticType::Fields fields) {
    return {
        .set = StaticType::kMap,
        .fields = std::make_shared<const StaticType::Fields>(std::move(fields))
    };
}

StaticType type_of(const Expression& expression, const TypeSource& source) {
    StaticType type = TypeRun(expression.code(), source).run();
    // What can have no type has no value either.
    if (type.set == 0) return {};
    return type;
}

std::vector<WrongCall> wrong_calls(const Expression& expression, const TypeSource& source) {
    TypeRun run(expression.code(), source);
    run.run();
    return run.wrong_calls();
}

std::string to_text(const StaticType& type) {
    std::string text;
    if (type.is_any()) return text;
    for (const TypeName& one : kNames) {
        if ((type.set & one.type) == 0) continue;
        if (!text.empty()) text += " or ";
        text += one.name;
    }
    return text;
}

}  // namespace ebb::expression
