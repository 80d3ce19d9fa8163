#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ebb::source {

/// A token of C++. Comments, directives and what `#else` excludes are left out.
struct CppToken {
    enum class Kind : std::uint8_t { Identifier, Number, String, Character, Punctuation, End };

    Kind kind = Kind::End;
    std::string_view text{};
    std::size_t begin = 0;

    std::size_t end() const { return begin + text.size(); }

    /// With the size of `word`, which is mostly a constant, so that no function is called.
    bool is(std::string_view word) const {
        return text.size() == word.size() &&
               std::char_traits<char>::compare(text.data(), word.data(), word.size()) == 0 &&
               kind != Kind::String;
    }

    /// A mark of one character.
    bool is(char mark) const {
        return text.size() == 1 && text.front() == mark && kind == Kind::Punctuation;
    }

    bool is_identifier() const { return kind == Kind::Identifier; }

    bool is_string() const { return kind == Kind::String; }
};

/// The tokens of any bytes; the text must outlive them. Of `#if` and `#else` the first part is read
/// (of `#if 0` the second one). Never fails: what is not C++ becomes tokens of one character. Of a
/// text with more than `tokens_max` tokens there are none.
std::vector<CppToken> lex_cpp(std::string_view text, std::size_t tokens_max);

/// The other bracket of a pair at the indexes of `( [ {` and `) ] }`; the number of tokens if there
/// is none, and for all other tokens.
std::vector<std::uint32_t> match_brackets(const std::vector<CppToken>& tokens);

/// The characters of a string literal, raw or with escapes.
std::string cpp_string_value(std::string_view literal);

}  // namespace ebb::source
