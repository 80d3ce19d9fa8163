#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

// The words of WSQL.

namespace ebb::cli::wsql {

struct Statement {
    std::string text{};  ///< its comments are spaces
    int line = 1;        ///< where it begins
    int column = 1;      ///< in bytes, from 1
};

/// Cuts a text at semicolons that are not in literals, without comments. `\cw NAME` is a statement
/// of one line.
std::vector<Statement> statements_of(std::string_view text);

/// Reads a statement from its beginning.
class Cursor {
 public:
    explicit Cursor(std::string_view text);

    bool is_at_end() const { return rest_.empty(); }

    std::string_view rest() const { return rest_; }

    /// Where in the text what was looked at last begins.
    std::size_t place() const { return place_; }

    void look();

    /// Takes the word if it comes next, in any case.
    bool take(std::string_view word);
    bool take(char symbol);

    /// Takes a name: a word, or one in double quotes. Empty if none comes next.
    std::string name();

    /// Takes a literal or a word.
    std::string value();

    /// Takes everything up to the first of these symbols that is not in parentheses or literals.
    std::string_view until(std::string_view symbols);

    /// What is in a literal that is the whole text; else the text.
    static std::string unquoted(std::string_view text);

 private:
    std::string_view peek() const;
    void advance(std::size_t size);

    std::string_view text_;
    std::string_view rest_;
    std::size_t place_ = 0;
};

std::string lower(std::string_view text);

}  // namespace ebb::cli::wsql
