#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "source/cpp_lexer.h"

namespace ebb::source {

using TokenIndex = std::uint32_t;

/// Tokens from `begin` up to `end`.
struct TokenRange {
    TokenIndex begin = 0;
    TokenIndex end = 0;

    bool is_empty() const { return begin >= end; }

    bool contains(TokenIndex at) const { return begin <= at && at < end; }

    bool operator==(const TokenRange&) const = default;
};

/// A function or a lambda of the file.
struct CppFunction {
    std::vector<std::string_view> parameters;  ///< names; empty where there is none
    TokenRange body;
    bool is_lambda = false;
};

/// One file of C++: its tokens, and which names are declared where. Nothing here fails; what is not
/// understood is simply not found.
class CppCode {
 public:
    explicit CppCode(std::string_view text);

    std::string_view text() const { return text_; }

    TokenIndex size() const { return static_cast<TokenIndex>(tokens_.size()); }

    /// Behind the last one: a token of kind End.
    const CppToken& at(TokenIndex index) const {
        return index < tokens_.size() ? tokens_[index] : end_;
    }

    /// The other bracket of a pair; size() if there is none.
    TokenIndex match(TokenIndex index) const {
        return index < tokens_.size() ? match_[index] : size();
    }

    /// What is inside the bracket at `open`, up to `limit` if it is not closed.
    TokenRange inside(TokenIndex open, TokenIndex limit) const;

    /// The parts between the commas outside of brackets.
    std::vector<TokenRange> split(TokenRange range) const;

    /// The first of `wanted` outside of brackets; the end if there is none.
    TokenIndex find(TokenRange range, std::string_view wanted) const;

    /// The text of tokens on one line, cut if it is long.
    std::string text_of(TokenRange range) const;

    std::size_t offset_of(TokenIndex index) const { return at(index).begin; }

    /// Where the tokens end in the text.
    std::size_t end_of(TokenRange range) const {
        return range.is_empty() ? offset_of(range.begin) : at(range.end - 1).end();
    }

    /// What `name` stands for at this place.
    struct Declaration {
        TokenIndex at = 0;
        TokenRange scope;
        TokenRange value;  ///< of a constant; empty if it can change or is not known
    };

    /// The innermost declaration that is visible there; null if the file has none.
    const Declaration* find(std::string_view name, TokenIndex at) const;

    /// The function of this name; nothing if there is none or more than one.
    const CppFunction* find_function(std::string_view name) const;

    /// A lambda whose `[` is at `open`.
    std::optional<CppFunction> lambda_at(TokenIndex open) const;

 private:
    std::string_view text_;
    std::vector<CppToken> tokens_;
    std::vector<std::uint32_t> match_;
    CppToken end_;
    std::unordered_map<std::string_view, std::vector<Declaration>> declarations_;
    std::unordered_map<std::string_view, std::vector<CppFunction>> functions_;

    void index();
    void index_name(TokenIndex at, const std::vector<TokenIndex>& open);
    TokenRange scope_of(const std::vector<TokenIndex>& open) const;
    TokenRange constant_value(TokenIndex at) const;
    bool is_declared_constant(TokenIndex at) const;
    void index_function(TokenIndex name);
    std::vector<std::string_view> parameters_in(TokenRange range) const;
    TokenIndex body_after(TokenIndex close) const;
};

}  // namespace ebb::source
