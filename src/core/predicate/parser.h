#pragma once

#include <string>
#include <string_view>

#include "core/predicate/lexer.h"
#include "core/predicate/typing.h"

namespace ebb::predicate {

/// Reads the source of a Code by recursive descent, with PostgreSQL's precedence, and fills the
/// rest of it. Throws PredicateError.
class Parser {
 public:
    explicit Parser(Code& code) : code_(code), lexer_(code.source), typing_(code) {}

    void run();

 private:
    class Nesting;

    // From the weakest operators to the strongest.
    NodeId disjunction();
    NodeId conjunction();
    NodeId inversion();
    NodeId test();
    NodeId comparison();
    NodeId matching();
    NodeId joining();
    NodeId sum();
    NodeId product();
    NodeId sign();
    NodeId cast();
    NodeId atom();

    NodeId after_is(NodeId operand, std::size_t offset);
    NodeId name();
    NodeId case_expression();
    NodeId cast_function();
    NodeId trim_function();
    NodeId substring_function();
    NodeId call(const std::string& name, std::size_t offset);
    NodeId membership(NodeId value, bool is_negated, std::size_t offset);
    NodeId likeness(NodeId value, Op op, std::size_t offset);
    NodeId column(const LexedToken& token);
    Type type_name();
    std::vector<NodeId> list(std::string_view end);
    std::string text_literal(std::string_view what);

    void advance();
    bool is_word(std::string_view word) const;
    bool is_symbol(std::string_view symbol) const;
    bool take_word(std::string_view word);
    bool take_symbol(std::string_view symbol);
    void expect_word(std::string_view word);
    void expect_symbol(std::string_view symbol);
    [[noreturn]] void unexpected(std::string_view wanted) const;

    Span span_from(std::size_t offset) const {
        return {static_cast<std::uint32_t>(offset), static_cast<std::uint32_t>(last_end_)};
    }

    Code& code_;
    Lexer lexer_;
    Typing typing_;
    LexedToken token_;
    LexedToken ahead_;
    std::size_t last_end_ = 0;
    int depth_ = 0;
};

}  // namespace ebb::predicate
