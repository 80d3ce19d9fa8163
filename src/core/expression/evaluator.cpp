#include <cmath>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "core/expression/ast.h"

namespace ebb::expression {

namespace {

class Evaluator {
 public:
    Evaluator(
        const Parsed& parsed,
        const std::string& source,
        const Variables& variables,
        const ExpressionLimits& limits
    )
        : source_(source),
          variables_(variables),
          limits_(limits),
          locals_(static_cast<std::size_t>(parsed.slots)) {}

    Value evaluate(const Ast& ast) {
        spend(ast, 1);
        switch (ast.kind) {
            case Ast::Kind::Literal:
                return ast.literal;
            case Ast::Kind::Variable:
                return variable(ast);
            case Ast::Kind::Local:
                return locals_[static_cast<std::size_t>(ast.slot)];
            case Ast::Kind::Step:
                return step(ast);
            case Ast::Kind::Select:
                return select(ast, evaluate(*ast.args[0]));
            case Ast::Kind::Has:
                return has(ast);
            case Ast::Kind::HasStep:
                return {variables_.find_step(ast.name) != nullptr};
            case Ast::Kind::Index:
                return index(ast);
            case Ast::Kind::Unary:
                return unary(ast);
            case Ast::Kind::Binary:
                return binary(ast);
            case Ast::Kind::Conditional:
                return evaluate(*ast.args[test(*ast.args[0]) ? 1 : 2]);
            case Ast::Kind::List:
                return list(ast);
            case Ast::Kind::Map:
                return map(ast);
            case Ast::Kind::Call:
                return call(ast);
            case Ast::Kind::Macro:
                return macro(ast);
        }
        return {Null{}};
    }

 private:
    [[noreturn]] void fail(const Ast& ast, const std::string& message) const {
        throw ExpressionError(message, source_, ast.line, ast.column);
    }

    void spend(const Ast& ast, std::int64_t steps) {
        spent_ += steps;
        if (spent_ > limits_.steps_max) {
            fail(ast, fmt::format("The evaluation needs more than {} steps.", limits_.steps_max));
        }
    }

    Value variable(const Ast& ast) const {
        const Json* json = variables_.find(ast.name);
        if (json == nullptr) fail(ast, fmt::format("There is no variable \"{}\".", ast.name));
        return Value::of(*json);
    }

    Value step(const Ast& ast) const {
        const Json* json = variables_.find_step(ast.name);
        if (json == nullptr) {
            fail(
                ast,
                fmt::format(
                    "The step \"{0}\" has not completed; ask has(steps.{0}) first.", ast.name
                )
            );
        }
        return Value::of(*json);
    }

    static std::string keys_of(const Value& map) {
        std::string keys;
        const auto size = static_cast<std::size_t>(size_of(map));
        for (std::size_t i = 0; i < std::min<std::size_t>(size, 8); ++i) {
            keys += (i == 0 ? "" : ", ") + to_json(entry(map, i).first).dump();
        }
        if (size > 8) keys += ", ...";
        return keys.empty() ? "no fields" : keys;
    }

    Value select(const Ast& ast, const Value& object) const {
        if (!object.is_map()) {
            fail(ast, fmt::format("\".{}\" needs a map, found {}.", ast.name, type_name(object)));
        }
        auto found = lookup(object, Value::text(ast.name));
        if (!found)
            fail(
                ast,
                fmt::format("There is no field \"{}\"; there are {}.", ast.name, keys_of(object))
            );
        return *std::move(found);
    }

    Value has(const Ast& ast) {
        const Value object = evaluate(*ast.args[0]);
        if (!object.is_map())
            fail(ast, fmt::format("has() needs a map, found {}.", type_name(object)));
        return {lookup(object, Value::text(ast.name)).has_value()};
    }

    static std::optional<std::int64_t> as_index(const Value& value) {
        if (const auto* number = value.as<std::int64_t>()) return *number;
        if (const auto* number = value.as<std::uint64_t>()) {
            return *number <= static_cast<std::uint64_t>(INT64_MAX)
                       ? static_cast<std::int64_t>(*number)
                       : -1;
        }
        if (const auto* number = value.as<double>();
            number != nullptr && *number == std::floor(*number) && std::abs(*number) < 1e15) {
            return static_cast<std::int64_t>(*number);
        }
        return std::nullopt;
    }

    Value index(const Ast& ast) {
        const Value object = evaluate(*ast.args[0]);
        const Value key = evaluate(*ast.args[1]);
        if (object.is_map()) {
            auto found = lookup(object, key);
            if (!found)
                fail(
                    ast,
                    fmt::format(
                        "There is no key {}; there are {}.", to_json(key).dump(), keys_of(object)
                    )
                );
            return *std::move(found);
        }
        const auto at = as_index(key);
        if (!object.is_list() || !at) {
            fail(
                ast, fmt::format("{} cannot be indexed by {}.", type_name(object), type_name(key))
            );
        }
        if (*at < 0 || *at >= size_of(object)) {
            fail(
                ast, fmt::format("The index {} is outside of the list of {}.", *at, size_of(object))
            );
        }
        return element(object, static_cast<std::size_t>(*at));
    }

    bool as_bool(const Ast& ast, const Value& value) const {
        const bool* flag = value.as<bool>();
        if (flag == nullptr) fail(ast, fmt::format("Expected a bool, found {}.", type_name(value)));
        return *flag;
    }

    bool test(const Ast& ast) { return as_bool(ast, evaluate(ast)); }

    Value unary(const Ast& ast) {
        const Value value = evaluate(*ast.args[0]);
        if (ast.op == Operator::Not) return {!as_bool(*ast.args[0], value)};
        if (const auto* number = value.as<std::int64_t>()) {
            if (*number == INT64_MIN) fail(ast, "The result is outside of the range of int.");
            return {-*number};
        }
        if (const auto* number = value.as<double>()) return {-*number};
        if (const auto* duration = value.as<Duration>()) return {-*duration};
        fail(ast, fmt::format("\"-\" needs an int or a double, found {}.", type_name(value)));
    }

    /// `&&` and `||` are commutative in CEL: an error on one side is absorbed when the other side
    /// decides.
    Value logical(const Ast& ast) {
        const bool decisive = ast.op == Operator::Or;
        try {
            if (test(*ast.args[0]) == decisive) return {decisive};
        } catch (const ExpressionError&) {
            if (spent_ > limits_.steps_max) throw;
            if (test(*ast.args[1]) == decisive) return {decisive};
            throw;
        }
        return {test(*ast.args[1])};
    }

    Value binary(const Ast& ast) {
        if (ast.op == Operator::And || ast.op == Operator::Or) return logical(ast);
        const Value left = evaluate(*ast.args[0]);
        const Value right = evaluate(*ast.args[1]);
        switch (ast.op) {
            case Operator::Equal:
                return {equal(ast, left, right)};
            case Operator::NotEqual:
                return {!equal(ast, left, right)};
            case Operator::In:
                return {contains(ast, left, right)};
            case Operator::Less:
            case Operator::LessEqual:
            case Operator::Greater:
            case Operator::GreaterEqual:
                return {ordered(ast, left, right)};
            default:
                return arithmetic(ast, left, right);
        }
    }

    bool equal(const Ast& ast, const Value& left, const Value& right) {
        if (left.is_list() || left.is_map()) spend(ast, size_of(left));
        return equals(left, right);
    }

    bool ordered(const Ast& ast, const Value& left, const Value& right) const {
        const Ordering ordering = compare(left, right);
        if (ordering == Ordering::Incomparable) {
            fail(ast, fmt::format("{} and {} have no order.", type_name(left), type_name(right)));
        }
        switch (ast.op) {
            case Operator::Less:
                return ordering == Ordering::Less;
            case Operator::LessEqual:
                return ordering == Ordering::Less || ordering == Ordering::Equal;
            case Operator::Greater:
                return ordering == Ordering::Greater;
            default:
                return ordering == Ordering::Greater || ordering == Ordering::Equal;
        }
    }

    bool contains(const Ast& ast, const Value& item, const Value& range) {
        if (range.is_map()) return lookup(range, item).has_value();
        if (!range.is_list())
            fail(ast, fmt::format("\"in\" needs a list or a map, found {}.", type_name(range)));
        const auto size = static_cast<std::size_t>(size_of(range));
        spend(ast, static_cast<std::int64_t>(size));
        for (std::size_t i = 0; i < size; ++i) {
            if (equals(item, element(range, i))) return true;
        }
        return false;
    }

    [[noreturn]] void fail_types(const Ast& ast, const Value& left, const Value& right) const {
        static constexpr std::string_view kSymbols = "+-*/%";
        const auto at = static_cast<std::size_t>(ast.op) - static_cast<std::size_t>(Operator::Add);
        const bool is_mixed = left.is_number() && right.is_number();
        fail(
            ast,
            fmt::format(
                "\"{}\" cannot take {} and {}{}.",
                kSymbols[at],
                type_name(left),
                type_name(right),
                is_mixed ? "; convert one with int(), uint() or double()" : ""
            )
        );
    }

    template <typename Integer>
    Value integer(const Ast& ast, Integer a, Integer b) const {
        Integer result = 0;
        bool overflows = false;
        switch (ast.op) {
            case Operator::Add:
                overflows = __builtin_add_overflow(a, b, &result);
                break;
            case Operator::Subtract:
                overflows = __builtin_sub_overflow(a, b, &result);
                break;
            case Operator::Multiply:
                overflows = __builtin_mul_overflow(a, b, &result);
                break;
            default:
                if (b == 0)
                    fail(
                        ast, ast.op == Operator::Divide ? "Division by zero." : "Modulus by zero."
                    );
                if constexpr (std::is_signed_v<Integer>) {
                    if (a == std::numeric_limits<Integer>::min() && b == -1) {
                        overflows = true;
                        break;
                    }
                }
                result = ast.op == Operator::Divide ? a / b : a % b;
        }
        if (overflows) {
            fail(
                ast,
                fmt::format(
                    "The result is outside of the range of {}.",
                    std::is_signed_v<Integer> ? "int" : "uint"
                )
            );
        }
        return {result};
    }

    Value floating(const Ast& ast, double a, double b, const Value& left, const Value& right)
        const {
        switch (ast.op) {
            case Operator::Add:
                return {a + b};
            case Operator::Subtract:
                return {a - b};
            case Operator::Multiply:
                return {a * b};
            case Operator::Divide:
                return {a / b};
            default:
                fail_types(ast, left, right);
        }
    }

    Value arithmetic(const Ast& ast, const Value& left, const Value& right) {
        if (left.as<std::int64_t>() != nullptr && right.as<std::int64_t>() != nullptr) {
            return integer(ast, *left.as<std::int64_t>(), *right.as<std::int64_t>());
        }
        if (left.as<std::uint64_t>() != nullptr && right.as<std::uint64_t>() != nullptr) {
            return integer(ast, *left.as<std::uint64_t>(), *right.as<std::uint64_t>());
        }
        if (left.as<double>() != nullptr && right.as<double>() != nullptr) {
            return floating(ast, *left.as<double>(), *right.as<double>(), left, right);
        }
        if (left.as_text() && right.as_text() && ast.op == Operator::Add)
            return joined_text(ast, left, right);
        if (left.is_list() && right.is_list() && ast.op == Operator::Add)
            return joined_list(ast, left, right);
        return time_arithmetic(ast, left, right);
    }

    Value joined_text(const Ast& ast, const Value& left, const Value& right) const {
        const std::string_view a = *left.as_text();
        const std::string_view b = *right.as_text();
        check_bytes(ast, a.size() + b.size());
        std::string text;
        text.reserve(a.size() + b.size());
        text.append(a).append(b);
        return Value::text(std::move(text));
    }

    void check_bytes(const Ast& ast, std::size_t bytes) const {
        if (bytes > limits_.result_bytes_max) {
            fail(ast, fmt::format("The result is larger than {} bytes.", limits_.result_bytes_max));
        }
    }

    Value joined_list(const Ast& ast, const Value& left, const Value& right) {
        Items items;
        spend(ast, size_of(left) + size_of(right));
        for (const Value* side : {&left, &right}) {
            const auto size = static_cast<std::size_t>(size_of(*side));
            for (std::size_t i = 0; i < size; ++i) items.push_back(element(*side, i));
        }
        return Value::list(std::move(items));
    }

    /// CEL's range of timestamps: the years 1 to 9999.
    Value checked_time(const Ast& ast, std::int64_t micros, bool overflows) const {
        constexpr std::int64_t kFirst = -62'135'596'800'000'000;
        constexpr std::int64_t kLast = 253'402'300'799'999'999;
        if (overflows || micros < kFirst || micros > kLast)
            fail(ast, "The result is outside of the range of timestamps.");
        return {TimePoint(Duration(micros))};
    }

    Value time_arithmetic(const Ast& ast, const Value& left, const Value& right) const {
        const bool is_add = ast.op == Operator::Add;
        if (!is_add && ast.op != Operator::Subtract) fail_types(ast, left, right);
        const auto* a = left.as<TimePoint>();
        const auto* b = right.as<TimePoint>();
        const auto* x = left.as<Duration>();
        const auto* y = right.as<Duration>();
        std::int64_t result = 0;
        const auto combine = [&](std::int64_t first, std::int64_t second) {
            return is_add ? __builtin_add_overflow(first, second, &result)
                          : __builtin_sub_overflow(first, second, &result);
        };
        if (a != nullptr && y != nullptr) {
            const bool overflows = combine(a->time_since_epoch().count(), y->count());
            return checked_time(ast, result, overflows);
        }
        if (x != nullptr && b != nullptr && is_add) {
            const bool overflows = combine(x->count(), b->time_since_epoch().count());
            return checked_time(ast, result, overflows);
        }
        if (a != nullptr && b != nullptr && !is_add) {
            combine(a->time_since_epoch().count(), b->time_since_epoch().count());
            return {Duration(result)};
        }
        if (x != nullptr && y != nullptr) {
            if (combine(x->count(), y->count()))
                fail(ast, "The result is outside of the range of durations.");
            return {Duration(result)};
        }
        fail_types(ast, left, right);
    }

    Value list(const Ast& ast) {
        Items items;
        items.reserve(ast.args.size());
        for (const AstPtr& argument : ast.args) items.push_back(evaluate(*argument));
        return Value::list(std::move(items));
    }

    Value map(const Ast& ast) {
        Entries entries;
        for (std::size_t i = 0; i < ast.args.size(); i += 2) {
            Value key = evaluate(*ast.args[i]);
            const bool is_key = key.as_text() || key.as<bool>() != nullptr ||
                                (key.is_number() && key.as<double>() == nullptr);
            if (!is_key)
                fail(
                    *ast.args[i],
                    fmt::format(
                        "A map's key is a string, an int, a uint or a bool, not {}.", type_name(key)
                    )
                );
            for (const auto& [known, value] : entries) {
                if (equals(known, key))
                    fail(
                        *ast.args[i], fmt::format("The key {} stands twice.", to_json(key).dump())
                    );
            }
            spend(ast, static_cast<std::int64_t>(entries.size()));
            entries.emplace_back(std::move(key), evaluate(*ast.args[i + 1]));
        }
        return Value::map(std::move(entries));
    }

    Value call(const Ast& ast) {
        std::vector<Value> arguments;
        arguments.reserve(ast.args.size());
        for (const AstPtr& argument : ast.args) {
            arguments.push_back(evaluate(*argument));
            const auto text = arguments.back().as_text();
            spend(ast, text ? static_cast<std::int64_t>(text->size() / 64) : 0);
        }
        try {
            return call_function(ast.slot, arguments, limits_.result_bytes_max);
        } catch (const FunctionError& error) {
            fail(ast, error.message);
        }
    }

    Value macro(const Ast& ast) {
        const Value range = evaluate(*ast.args[0]);
        if (!range.is_list() && !range.is_map()) {
            fail(
                ast,
                fmt::format("{}() goes over a list or a map, found {}.", ast.name, type_name(range))
            );
        }
        const auto size = static_cast<std::size_t>(size_of(range));
        const auto item = [&](std::size_t i) -> Value {
            Value value = range.is_list() ? element(range, i) : entry(range, i).first;
            locals_[static_cast<std::size_t>(ast.slot)] = value;
            return value;
        };
        if (ast.macro == Macro::All || ast.macro == Macro::Exists)
            return quantified(ast, size, item);
        if (ast.macro == Macro::ExistsOne) {
            std::size_t found = 0;
            for (std::size_t i = 0; i < size; ++i) {
                item(i);
                if (test(*ast.args[1])) ++found;
            }
            return {found == 1};
        }
        Items items;
        for (std::size_t i = 0; i < size; ++i) {
            const Value value = item(i);
            const bool has_filter = ast.macro == Macro::Filter || ast.args.size() == 3;
            if (has_filter && !test(*ast.args[1])) continue;
            items.push_back(ast.macro == Macro::Filter ? value : evaluate(*ast.args.back()));
        }
        return Value::list(std::move(items));
    }

    /// all() and exists() are chains of && and ||, so errors are absorbed when another element
    /// decides.
    template <typename Item>
    Value quantified(const Ast& ast, std::size_t size, const Item& item) {
        const bool decisive = ast.macro == Macro::Exists;
        std::optional<ExpressionError> error;
        for (std::size_t i = 0; i < size; ++i) {
            item(i);
            try {
                if (test(*ast.args[1]) == decisive) return {decisive};
            } catch (const ExpressionError& e) {
                if (spent_ > limits_.steps_max) throw;
                error = e;
            }
        }
        if (error) throw ExpressionError(*error);
        return {!decisive};
    }

    const std::string& source_;
    const Variables& variables_;
    const ExpressionLimits& limits_;
    std::vector<Value> locals_;
    std::int64_t spent_ = 0;
};

}  // namespace

Value evaluate(
    const Ast& root,
    const Parsed& parsed,
    const std::string& source,
    const Variables& variables,
    const ExpressionLimits& limits
) {
    return Evaluator(parsed, source, variables, limits).evaluate(root);
}

}  // namespace ebb::expression
