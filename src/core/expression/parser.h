#pragma once

#include <string_view>
#include <vector>

#include "core/expression/code.h"
#include "core/expression/functions.h"
#include "core/expression/lexer.h"

namespace ebb::expression {

/// Compiles `code.source` into `code`, whose limits are set: a recursive descent that emits
/// instructions as it goes. Only nesting recurses, which depth_max bounds; chains loop.
class Parser {
 public:
    explicit Parser(Code& code);

    /// Throws ExpressionError for the first problem.
    void run();

 private:
    /// What the last parsed expression is, as far as has() must know it.
    enum class Form { Other, Field };

    /// One level of nesting.
    class Depth {
     public:
        explicit Depth(Parser& parser);

        ~Depth() { --parser_.depth_; }

        Depth(const Depth&) = delete;
        Depth& operator=(const Depth&) = delete;

     private:
        Parser& parser_;
    };

    struct Operator {
        TokenKind token;
        int precedence;
        Op op;
    };

    static const Operator* find_operator(TokenKind kind);

    Form expression();
    void choice();
    Form binary(int precedence_min);
    void right_side(const Operator& op, const Token& token, std::size_t left_begin);
    bool steps_membership(const Token& token, std::size_t left_begin);
    Form unary();
    Form postfix(Form form);
    Form primary();
    void number(bool is_negative);
    void string();
    void list();
    void map();

    Form name();
    Form global_name(const Token& name);
    Form member();
    void read_attempts();
    void check_attempt_field(const Token& name) const;
    Form subscript();
    Form step(const Token& steps);
    void call(const Token& name);
    void method(const Token& name);
    void has(const Token& name);
    void macro(const Token& name, Macro macro);
    std::size_t arguments();
    void emit_call(const Token& name, std::size_t function, std::size_t count);
    [[noreturn]] void fail_unknown_function(const Token& name, bool is_method) const;

    Token advance();

    bool is(TokenKind kind) const { return token_.kind == kind; }

    bool accept(TokenKind kind);
    void expect(TokenKind kind, std::string_view what);
    Token peek() const;
    bool is_local(std::string_view name) const;
    [[noreturn]] void fail(const Token& token, const std::string& message) const;
    [[noreturn]] void fail_unexpected(std::string_view expected) const;

    std::size_t emit(const Instruction& instruction, int stack_effect);
    void push_constant(const Value& value, const Token& token);
    void push_named(Op op, std::string_view name, const Token& token);
    /// Lets the instruction at `at` jump to where the next one will be.
    void land(std::size_t at);

    std::size_t here() const { return code_.instructions.size(); }

    static std::uint32_t index_of(std::size_t size) { return static_cast<std::uint32_t>(size); }

    Code& code_;
    Lexer lexer_;
    Token token_;
    int depth_ = -1;  // the whole expression is not nested
    int stack_ = 0;
    std::vector<std::string_view> locals_;
    std::vector<std::string> steps_;
    std::vector<std::string> attempts_;
    std::vector<std::string> variables_;
};

}  // namespace ebb::expression
