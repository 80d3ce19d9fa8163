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

struct CppCodeLimits {
    /// Code of more tokens is not looked at: a megabyte of code has 200,000 to 300,000.
    static constexpr std::size_t kTokensMax = 2'000'000;
    /// Looks at tokens, beyond which nothing more is known. Code that people write takes 2 to 5 for
    /// each byte.
    static constexpr std::size_t kLooksPerByte = 32;
    static constexpr std::size_t kLooksMin = 1'000'000;
};

/// One file of C++: its tokens, and which names are declared where. Nothing here fails; what is not
/// understood is simply not found. Code that asks for more looks than its size allows is exhausted,
/// so no code takes more than linear time.
class CppCode {
 public:
    explicit CppCode(std::string_view text);

    /// Counts looks at tokens. False if there were too many.
    bool look(std::size_t count = 1) const {
        looks_ += count;
        return looks_ <= looks_max_;
    }

    /// What was found from here on may be wrong.
    bool is_exhausted() const { return looks_ > looks_max_; }

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

    /// The `}` of the innermost braces around a token; size() if there are none.
    TokenIndex end_of_scope(TokenIndex at) const;

    /// What a name stands for.
    struct Declaration {
        bool is_found = false;
        TokenRange value{};  ///< of a constant; empty if it can change or is not known
    };

    /// The innermost declaration that is visible at `at`.
    Declaration find_declaration(std::string_view name, TokenIndex at) const;

    /// The function of this name; nothing if there is none or more than one.
    const CppFunction* find_function(std::string_view name) const;

    /// A lambda whose `[` is at `open`.
    std::optional<CppFunction> lambda_at(TokenIndex open) const;

 private:
    std::string_view text_;
    std::vector<CppToken> tokens_;
    std::vector<std::uint32_t> match_;
    std::vector<std::uint32_t>
        around_;  ///< the bracket that a token is in; size() if there is none
    CppToken end_;
    std::unordered_map<std::string_view, std::vector<TokenIndex>> declarations_;
    std::unordered_map<std::string_view, std::vector<CppFunction>> functions_;
    std::size_t looks_max_;
    mutable std::size_t looks_ = 0;

    void index();
    TokenRange scope_of(TokenIndex name) const;
    TokenRange constant_value(TokenIndex at) const;
    bool is_declared_constant(TokenIndex at) const;
    void index_function(TokenIndex name);
    std::vector<std::string_view> parameters_in(TokenRange range) const;
    TokenIndex body_after(TokenIndex close) const;
};

}  // namespace ebb::source
