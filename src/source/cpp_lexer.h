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

    bool is(std::string_view word) const { return text == word && kind != Kind::String; }

    bool is_identifier() const { return kind == Kind::Identifier; }

    bool is_string() const { return kind == Kind::String; }
};

/// The tokens of any bytes; the text must outlive them. Of `#if` and `#else` the first part is read
/// (of `#if 0` the second one). Never fails: what is not C++ becomes tokens of one character.
std::vector<CppToken> lex_cpp(std::string_view text);

/// The index of the bracket that closes `( [ {` at each index; the number of tokens if none does,
/// and for all other tokens.
std::vector<std::uint32_t> match_brackets(const std::vector<CppToken>& tokens);

/// The characters of a string literal, raw or with escapes.
std::string cpp_string_value(std::string_view literal);

}  // namespace ebb::source
