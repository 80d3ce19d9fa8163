#include <algorithm>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "core/expression/ast.h"
#include "core/expression/lexer.h"

namespace ebb::expression {

std::string_view nearest(std::string_view name, const std::vector<std::string_view>& known) {
    std::string_view best;
    std::size_t best_distance = name.size() / 3 + 2;
    for (const std::string_view other : known) {
        std::vector<std::size_t> row(other.size() + 1);
        for (std::size_t j = 0; j <= other.size(); ++j) row[j] = j;
        for (std::size_t i = 1; i <= name.size(); ++i) {
            std::size_t diagonal = std::exchange(row[0], i);
            for (std::size_t j = 1; j <= other.size(); ++j) {
                const std::size_t change = diagonal + (name[i - 1] == other[j - 1] ? 0 : 1);
                diagonal = row[j];
                row[j] = std::min({change, row[j] + 1, row[j - 1] + 1});
            }
        }
        if (row.back() < best_distance) {
            best_distance = row.back();
            best = other;
        }
    }
    return best;
}

namespace {

const std::set<std::string_view> kReserved = {
    "as",
    "break",
    "const",
    "continue",
    "else",
    "for",
    "function",
    "if",
    "import",
    "in",
    "let",
    "loop",
    "package",
    "namespace",
    "return",
    "var",
    "void",
    "while",
};

/// Pratt parser: one function per level of binding, and a depth that is counted so that no source
/// can exhaust the stack.
class Parser {
 public:
    Parser(const std::string& source, const ExpressionLimits& limits)
        : source_(source), limits_(limits), lexer_(source) {
        take();
    }

    Parsed parse() {
        Parsed parsed;
        parsed.root = conditional();
        if (now_.kind != Lexeme::Kind::End) {
            fail(fmt::format(
                "Expected the end of the expression or an operator, found {}.", describe(now_)
            ));
        }
        parsed.slots = slots_;
        parsed.steps_read.assign(steps_.begin(), steps_.end());
        parsed.variables_read.assign(variables_.begin(), variables_.end());
        return parsed;
    }

 private:
    /// Counts the nesting while it lives.
    class Depth {
     public:
        explicit Depth(Parser& parser) : parser_(parser) {
            if (++parser_.depth_ > parser_.limits_.depth_max) {
                parser_.fail(fmt::format(
                    "The expression is nested deeper than {} levels.", parser_.limits_.depth_max
                ));
            }
        }

        ~Depth() { --parser_.depth_; }

        Depth(const Depth&) = delete;
        Depth& operator=(const Depth&) = delete;

     private:
        Parser& parser_;
    };

    [[noreturn]] void fail(const std::string& message) const {
        lexer_.fail(message, now_.line, now_.column);
    }

    [[noreturn]] void fail_at(const Ast& ast, const std::string& message) const {
        lexer_.fail(message, ast.line, ast.column);
    }

    static std::string describe(const Lexeme& lexeme) {
        if (lexeme.kind == Lexeme::Kind::End) return "the end";
        if (lexeme.kind == Lexeme::Kind::Literal) return "a literal";
        return "\"" + lexeme.text + "\"";
    }

    Lexeme take() {
        Lexeme taken = std::exchange(now_, lexer_.next());
        return taken;
    }

    bool is_symbol(std::string_view text) const {
        return now_.kind == Lexeme::Kind::Symbol && now_.text == text;
    }

    bool is_name(std::string_view text) const {
        return now_.kind == Lexeme::Kind::Name && now_.text == text;
    }

    bool accept(std::string_view text) {
        if (!is_symbol(text)) return false;
        take();
        return true;
    }

    void expect(std::string_view text) {
        if (!accept(text)) fail(fmt::format("Expected \"{}\", found {}.", text, describe(now_)));
    }

    AstPtr make(Ast::Kind kind, const Lexeme& place) const {
        auto ast = std::make_unique<Ast>();
        ast->kind = kind;
        ast->line = place.line;
        ast->column = place.column;
        return ast;
    }

    AstPtr conditional() {
        const Depth depth(*this);
        AstPtr test = binary(0);
        if (!is_symbol("?")) return test;
        AstPtr ast = make(Ast::Kind::Conditional, take());
        ast->args.push_back(std::move(test));
        ast->args.push_back(binary(0));
        expect(":");
        ast->args.push_back(conditional());
        return ast;
    }

    struct Level {
        std::string_view text;
        Operator op;
        int level;
    };

    const Level* binary_operator() const {
        static const std::vector<Level> kLevels = {
            {"||", Operator::Or, 0},
            {"&&", Operator::And, 1},
            {"<", Operator::Less, 2},
            {"<=", Operator::LessEqual, 2},
            {">", Operator::Greater, 2},
            {">=", Operator::GreaterEqual, 2},
            {"==", Operator::Equal, 2},
            {"!=", Operator::NotEqual, 2},
            {"in", Operator::In, 2},
            {"+", Operator::Add, 3},
            {"-", Operator::Subtract, 3},
            {"*", Operator::Multiply, 4},
            {"/", Operator::Divide, 4},
            {"%", Operator::Modulo, 4},
        };
        if (now_.kind != Lexeme::Kind::Symbol && !is_name("in")) return nullptr;
        for (const Level& level : kLevels) {
            if (level.text == now_.text) return &level;
        }
        return nullptr;
    }

    AstPtr binary(int level) {
        AstPtr left = unary();
        // A chain of operators makes a tree as deep as it is long, which the evaluator walks by
        // recursion.
        int length = 0;
        for (const Level* found = binary_operator(); found != nullptr && found->level >= level;
             found = binary_operator()) {
            if (++length > kChainMax)
                fail(fmt::format("More than {} operators in a row.", kChainMax));
            const Operator op = found->op;
            const int next = found->level + 1;
            AstPtr ast = make(Ast::Kind::Binary, take());
            ast->op = op;
            ast->args.push_back(std::move(left));
            const Depth depth(*this);
            ast->args.push_back(binary(next));
            left = std::move(ast);
        }
        return left;
    }

    AstPtr unary() {
        if (!is_symbol("!") && !is_symbol("-")) return postfix();
        const Depth depth(*this);
        const Lexeme sign = take();
        if (sign.text == "-" && now_.kind == Lexeme::Kind::Literal && now_.text == "minimum") {
            AstPtr ast = make(Ast::Kind::Literal, take());
            ast->literal = {INT64_MIN};
            return postfix_of(std::move(ast));
        }
        AstPtr ast = make(Ast::Kind::Unary, sign);
        ast->op = sign.text == "!" ? Operator::Not : Operator::Negate;
        ast->args.push_back(unary());
        return ast;
    }

    AstPtr postfix() { return postfix_of(primary()); }

    AstPtr postfix_of(AstPtr ast) {
        int length = 0;
        while (is_symbol(".") || is_symbol("[")) {
            if (++length > kChainMax)
                fail(fmt::format("More than {} selections in a row.", kChainMax));
            const Lexeme place = take();
            ast = place.text == "." ? member(std::move(ast), place) : index(std::move(ast), place);
        }
        if (ast->kind == Ast::Kind::Variable && ast->name == "steps") {
            fail_at(*ast, "Name the step: steps.NAME.output or steps[\"NAME\"].output.");
        }
        return ast;
    }

    AstPtr member(AstPtr object, const Lexeme& place) {
        if (now_.kind != Lexeme::Kind::Name)
            fail(fmt::format("Expected a field's name, found {}.", describe(now_)));
        const Lexeme name = take();
        if (is_symbol("(")) return method(std::move(object), name);
        if (object->kind == Ast::Kind::Variable && object->name == "steps")
            return step(name.text, place);
        AstPtr ast = make(Ast::Kind::Select, name);
        ast->name = name.text;
        ast->args.push_back(std::move(object));
        return ast;
    }

    AstPtr index(AstPtr object, const Lexeme& place) {
        const Depth depth(*this);
        AstPtr key = conditional();
        expect("]");
        if (object->kind == Ast::Kind::Variable && object->name == "steps") {
            const auto name =
                key->kind == Ast::Kind::Literal ? key->literal.as_text() : std::nullopt;
            if (!name) {
                fail_at(
                    *key,
                    "Which step is read must be known when the workflow is made: write "
                    "steps[\"NAME\"]."
                );
            }
            return step(std::string(*name), place);
        }
        AstPtr ast = make(Ast::Kind::Index, place);
        ast->args.push_back(std::move(object));
        ast->args.push_back(std::move(key));
        return ast;
    }

    AstPtr step(const std::string& name, const Lexeme& place) {
        steps_.insert(name);
        AstPtr ast = make(Ast::Kind::Step, place);
        ast->name = name;
        return ast;
    }

    AstPtr primary() {
        if (now_.kind == Lexeme::Kind::Literal) {
            if (now_.text == "minimum") fail("9223372036854775808 is too large for an int.");
            const Lexeme place = now_;
            AstPtr ast = make(Ast::Kind::Literal, place);
            ast->literal = take().literal;
            return ast;
        }
        if (now_.kind == Lexeme::Kind::Name) return name_or_call();
        if (is_symbol("(")) {
            take();
            AstPtr ast = conditional();
            expect(")");
            return ast;
        }
        if (is_symbol("[")) return list();
        if (is_symbol("{")) return map();
        if (is_symbol(".")) fail("A leading dot is not supported: there are no packages.");
        fail(fmt::format("Expected a value, found {}.", describe(now_)));
    }

    AstPtr list() {
        const Depth depth(*this);
        AstPtr ast = make(Ast::Kind::List, take());
        ast->args = arguments("]");
        return ast;
    }

    AstPtr map() {
        const Depth depth(*this);
        AstPtr ast = make(Ast::Kind::Map, take());
        while (!accept("}")) {
            ast->args.push_back(conditional());
            expect(":");
            ast->args.push_back(conditional());
            if (!accept(",")) {
                expect("}");
                break;
            }
        }
        return ast;
    }

    /// Up to and with `end`; a comma may stand before it.
    std::vector<AstPtr> arguments(std::string_view end) {
        std::vector<AstPtr> args;
        while (!accept(end)) {
            args.push_back(conditional());
            if (!accept(",")) {
                expect(end);
                break;
            }
        }
        return args;
    }

    AstPtr name_or_call() {
        const Lexeme name = take();
        if (kReserved.contains(name.text)) {
            lexer_.fail(
                fmt::format("\"{}\" is a reserved word.", name.text), name.line, name.column
            );
        }
        if (is_symbol("(")) return name.text == "has" ? has(name) : function(name);
        const auto local = std::find_if(locals_.rbegin(), locals_.rend(), [&](const auto& l) {
            return l == name.text;
        });
        AstPtr ast = make(local == locals_.rend() ? Ast::Kind::Variable : Ast::Kind::Local, name);
        ast->name = name.text;
        if (local == locals_.rend()) {
            variables_.insert(name.text);
        } else {
            ast->slot = static_cast<int>(std::distance(local, locals_.rend())) - 1;
        }
        return ast;
    }

    AstPtr has(const Lexeme& name) {
        const Depth depth(*this);
        take();
        AstPtr argument = conditional();
        expect(")");
        if (argument->kind == Ast::Kind::Step) {
            argument->kind = Ast::Kind::HasStep;
            return argument;
        }
        if (argument->kind != Ast::Kind::Select) {
            lexer_.fail("has() takes a field selection: has(input.name).", name.line, name.column);
        }
        argument->kind = Ast::Kind::Has;
        return argument;
    }

    AstPtr function(const Lexeme& name) {
        const Depth depth(*this);
        take();
        AstPtr ast = make(Ast::Kind::Call, name);
        ast->args = arguments(")");
        ast->name = name.text;
        ast->slot = find_function(name.text, false, ast->args.size());
        if (ast->slot < 0) fail_unknown(*ast, false, ast->args.size());
        return ast;
    }

    static std::optional<Macro> macro_of(std::string_view name) {
        if (name == "all") return Macro::All;
        if (name == "exists") return Macro::Exists;
        if (name == "exists_one") return Macro::ExistsOne;
        if (name == "filter") return Macro::Filter;
        if (name == "map") return Macro::Map;
        return std::nullopt;
    }

    AstPtr method(AstPtr object, const Lexeme& name) {
        const Depth depth(*this);
        take();
        if (const auto which = macro_of(name.text)) return macro(std::move(object), name, *which);
        AstPtr ast = make(Ast::Kind::Call, name);
        ast->name = name.text;
        ast->args = arguments(")");
        ast->args.insert(ast->args.begin(), std::move(object));
        ast->slot = find_function(name.text, true, ast->args.size() - 1);
        if (ast->slot < 0) fail_unknown(*ast, true, ast->args.size() - 1);
        return ast;
    }

    AstPtr macro(AstPtr range, const Lexeme& name, Macro which) {
        AstPtr ast = make(Ast::Kind::Macro, name);
        ast->macro = which;
        ast->name = name.text;
        ast->args.push_back(std::move(range));
        if (now_.kind != Lexeme::Kind::Name || kReserved.contains(now_.text)) {
            fail(fmt::format("The first argument of {}() is a variable's name.", name.text));
        }
        const std::string variable = take().text;
        expect(",");
        ast->slot = static_cast<int>(locals_.size());
        locals_.push_back(variable);
        slots_ = std::max(slots_, static_cast<int>(locals_.size()));
        for (AstPtr& argument : arguments(")")) ast->args.push_back(std::move(argument));
        locals_.pop_back();
        const std::size_t most = which == Macro::Map ? 3 : 2;
        if (ast->args.size() < 2 || ast->args.size() > most) {
            fail_at(
                *ast,
                fmt::format(
                    "{}() takes a variable and {}.",
                    name.text,
                    which == Macro::Map ? "one or two expressions" : "one expression"
                )
            );
        }
        return ast;
    }

    [[noreturn]] void fail_unknown(const Ast& call, bool is_method, std::size_t arguments) const {
        if (call.name == "matches") {
            fail_at(
                call,
                "matches() is not supported: no regular expressions; use contains, startsWith or "
                "endsWith."
            );
        }
        const auto names = function_names();
        if (std::find(names.begin(), names.end(), call.name) != names.end()) {
            fail_at(
                call,
                fmt::format(
                    "{}() cannot be called {} with {} argument{}.",
                    call.name,
                    is_method ? "as a method" : "as a function",
                    arguments,
                    arguments == 1 ? "" : "s"
                )
            );
        }
        const std::string_view near = nearest(call.name, names);
        fail_at(
            call,
            fmt::format(
                "There is no function {}().{}",
                call.name,
                near.empty() ? std::string() : fmt::format(" Did you mean {}()?", near)
            )
        );
    }

    static constexpr int kChainMax = 1'000;

    const std::string& source_;
    const ExpressionLimits& limits_;
    Lexer lexer_;
    Lexeme now_;
    int depth_ = 0;
    int slots_ = 0;
    std::vector<std::string> locals_;
    std::set<std::string> steps_;
    std::set<std::string> variables_;
};

}  // namespace

Parsed parse(const std::string& source, const ExpressionLimits& limits) {
    return Parser(source, limits).parse();
}

}  // namespace ebb::expression
