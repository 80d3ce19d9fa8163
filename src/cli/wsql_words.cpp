#include "cli/wsql_words.h"

#include <algorithm>
#include <cctype>

namespace ebb::cli::wsql {

namespace {

bool is_space(char c) {
    return std::isspace(static_cast<unsigned char>(c)) != 0;
}

bool is_word_character(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-' || c == '\\';
}

std::string_view trimmed(std::string_view text) {
    while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
    while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
    return text;
}

/// Where the literal that begins at `at` ends; `at` if none begins there.
std::size_t end_of_literal(std::string_view text, std::size_t at) {
    if (text[at] == '\'' || text[at] == '"') {
        const std::size_t end = text.find(text[at], at + 1);
        return end == std::string_view::npos ? text.size() : end + 1;
    }
    if (text.substr(at, 2) != "$$") return at;
    const std::size_t end = text.find("$$", at + 2);
    return end == std::string_view::npos ? text.size() : end + 2;
}

}  // namespace

std::string lower(std::string_view text) {
    std::string result(text);
    std::transform(result.begin(), result.end(), result.begin(), [](unsigned char c) {
        return static_cast<char>(std::tolower(c));
    });
    return result;
}

std::vector<Statement> statements_of(std::string_view text) {
    std::vector<Statement> statements;
    Statement current;
    int line = 1;
    std::size_t line_begin = 0;
    const auto end_statement = [&] {
        current.text = trimmed(current.text);
        if (!current.text.empty()) statements.push_back(current);
        current = {};
    };
    const auto begin_line = [&](std::size_t at) {
        ++line;
        line_begin = at;
    };
    for (std::size_t at = 0; at < text.size();) {
        if (text.substr(at, 2) == "--") {
            const std::size_t end = std::min(text.find('\n', at), text.size());
            if (!current.text.empty()) current.text.append(end - at, ' ');
            at = end;
            continue;
        }
        if (current.text.empty()) {
            if (is_space(text[at])) {
                ++at;
                if (text[at - 1] == '\n') begin_line(at);
                continue;
            }
            current.line = line;
            current.column = static_cast<int>(at - line_begin) + 1;
        }
        const bool is_command = !current.text.empty() && current.text.front() == '\\';
        if (text[at] == ';' || (is_command && text[at] == '\n')) {
            end_statement();
            ++at;
            if (text[at - 1] == '\n') begin_line(at);
            continue;
        }
        const std::size_t end = std::max(end_of_literal(text, at), at + 1);
        const std::string_view part = text.substr(at, end - at);
        for (std::size_t i = 0; i < part.size(); ++i) {
            if (part[i] == '\n') begin_line(at + i + 1);
        }
        current.text += part;
        at = end;
    }
    end_statement();
    return statements;
}

Cursor::Cursor(std::string_view text) : text_(text), rest_(trimmed(text)) {}

void Cursor::look() {
    place_ = static_cast<std::size_t>(rest_.data() - text_.data());
}

bool Cursor::take(std::string_view word) {
    look();
    if (lower(peek()) != word) return false;
    advance(word.size());
    return true;
}

bool Cursor::take(char symbol) {
    look();
    if (rest_.empty() || rest_.front() != symbol) return false;
    advance(1);
    return true;
}

std::string Cursor::name() {
    look();
    if (!rest_.empty() && rest_.front() == '"') {
        const std::size_t end = end_of_literal(rest_, 0);
        const std::string quoted(rest_.substr(1, std::max<std::size_t>(end, 2) - 2));
        advance(end);
        return quoted;
    }
    const std::string word(peek());
    advance(word.size());
    return word;
}

std::string Cursor::value() {
    look();
    const std::size_t end = rest_.empty() ? 0 : end_of_literal(rest_, 0);
    if (end == 0) return name();
    const std::string literal = unquoted(rest_.substr(0, end));
    advance(end);
    return literal;
}

std::string_view Cursor::until(std::string_view symbols) {
    look();
    int depth = 0;
    std::size_t at = 0;
    while (at < rest_.size()) {
        if (depth == 0 && symbols.find(rest_[at]) != std::string_view::npos) break;
        if (rest_[at] == '(') ++depth;
        if (rest_[at] == ')') --depth;
        at = std::max(end_of_literal(rest_, at), at + 1);
    }
    const std::string_view taken = trimmed(rest_.substr(0, at));
    advance(at);
    return taken;
}

std::string Cursor::unquoted(std::string_view text) {
    if (text.empty() || text.front() == '"' || end_of_literal(text, 0) != text.size()) {
        return std::string(text);
    }
    const std::size_t mark = text.front() == '\'' ? 1 : 2;
    if (text.size() < 2 * mark) return std::string(text);
    return std::string(text.substr(mark, text.size() - 2 * mark));
}

std::string_view Cursor::peek() const {
    std::size_t size = 0;
    while (size < rest_.size() && is_word_character(rest_[size])) ++size;
    return rest_.substr(0, size);
}

void Cursor::advance(std::size_t size) {
    rest_ = trimmed(rest_.substr(std::min(size, rest_.size())));
}

}  // namespace ebb::cli::wsql
