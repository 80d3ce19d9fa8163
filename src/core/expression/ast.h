#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/expression/expression.h"
#include "core/expression/value.h"

namespace ebb::expression {

enum class Operator {
    Or,
    And,
    Not,
    Negate,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    Equal,
    NotEqual,
    In,
    Add,
    Subtract,
    Multiply,
    Divide,
    Modulo,
};

enum class Macro { All, Exists, ExistsOne, Filter, Map };

struct Ast;
using AstPtr = std::unique_ptr<Ast>;

/// One node of a compiled expression.
struct Ast {
    enum class Kind {
        Literal,
        Variable,  ///< name
        Local,     ///< name of a macro's variable; slot
        Step,      ///< `steps.<name>`: name
        Select,    ///< args[0].name
        Has,       ///< has(args[0].name)
        HasStep,   ///< has(steps.<name>)
        Index,     ///< args[0][args[1]]
        Unary,
        Binary,
        Conditional,  ///< args[0] ? args[1] : args[2]
        List,
        Map,    ///< args: key, value, key, value...
        Call,   ///< function number `slot`; a method's receiver is args[0]
        Macro,  ///< args[0] = range, args[1] = body (map with a filter: args[1] = filter, args[2] =
                ///< body); slot
    };

    Kind kind = Kind::Literal;
    Operator op = Operator::Or;
    Macro macro = Macro::All;
    int line = 1;
    int column = 1;
    int slot = 0;
    std::string name;
    Value literal;
    std::vector<AstPtr> args;
};

/// A parsed expression with what it reads.
struct Parsed {
    AstPtr root;
    int slots = 0;  ///< how many macro variables may be live at once
    std::vector<std::string> steps_read;
    std::vector<std::string> variables_read;
};

/// Throws ExpressionError.
Parsed parse(const std::string& source, const ExpressionLimits& limits);

/// One evaluation. Throws ExpressionError.
Value evaluate(
    const Ast& root,
    const Parsed& parsed,
    const std::string& source,
    const Variables& variables,
    const ExpressionLimits& limits
);

/// The functions, by number. A name is looked up once, when compiling.
/// -1 = there is no such function (or no such method) of that many arguments.
int find_function(std::string_view name, bool is_method, std::size_t arguments);
/// Every function's and method's name, for messages.
std::vector<std::string_view> function_names();

/// A function's complaint; the evaluator adds the place.
struct FunctionError {
    std::string message;
};

/// Throws FunctionError. `bytes_max` bounds texts and lists that are built.
Value call_function(int function, const std::vector<Value>& arguments, std::size_t bytes_max);

/// The nearest of `known` to a misspelt `name`; empty when none is near.
std::string_view nearest(std::string_view name, const std::vector<std::string_view>& known);

}  // namespace ebb::expression
