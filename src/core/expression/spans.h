#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

// Where a source says something: for messages and editors, which point at it. They read any text,
// also one that does not compile.

namespace ebb::expression {

/// Bytes of a text, the end exclusive.
struct Span {
    std::size_t begin = 0;
    std::size_t end = 0;

    bool operator==(const Span&) const = default;
};

/// The token at `offset`, at least one character of it.
Span token_at(std::string_view source, std::size_t offset);

/// The names in `steps.NAME`, ``steps.`NAME` `` and `steps["NAME"]`, without their quotes.
std::vector<Span> step_reads(std::string_view source);

/// The same of another variable than `steps`: the names of the members of `root` that are read.
std::vector<Span> member_reads(std::string_view source, std::string_view root);

/// Where the free variable `name` is read.
std::vector<Span> variable_reads(std::string_view source, std::string_view name);

/// The expressions of a text with `${ }`, without the braces; the last one may be unclosed.
std::vector<Span> expressions_in(std::string_view text);

}  // namespace ebb::expression
