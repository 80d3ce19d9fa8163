#include "handlers/url_template.h"

#include <algorithm>

#include "handlers/call_variables.h"

namespace ebb {

namespace {

/// The next `${` that is not written `$${`.
std::size_t find_expression(std::string_view text) {
    std::size_t at = text.find("${");
    while (at != std::string_view::npos && at > 0 && text[at - 1] == '$')
        at = text.find("${", at + 2);
    return std::min(at, text.size());
}

bool is_behind_host(std::string_view before) {
    const std::size_t authority = before.find("://");
    return authority != std::string_view::npos &&
           before.find_first_of("/?#", authority + 3) != std::string_view::npos;
}

}  // namespace

UrlTemplate UrlTemplate::compile(std::string_view text) {
    UrlTemplate url;
    std::string before;
    while (!text.empty()) {
        const std::size_t literal = find_expression(text);
        if (literal > 0) {
            url.pieces_.push_back({Template::compile_text(text.substr(0, literal)), false, false});
            before += text.substr(0, literal);
            text.remove_prefix(literal);
            continue;
        }
        // Without an end, compiling the rest says what is wrong.
        const std::size_t end = std::min(expression_end(text, 2), text.size() - 1) + 1;
        url.pieces_.push_back(
            {Template::compile_text(text.substr(0, end)), is_behind_host(before), true}
        );
        // A URL that begins with an expression has its scheme and host from there:
        // `${input.base}/orders/${input.id}`.
        before += before.empty() ? "x://x" : "x";
        text.remove_prefix(end);
    }
    return url;
}

std::string UrlTemplate::render(const Variables& variables) const {
    std::string url;
    for (const Piece& piece : pieces_) {
        const std::string text = render_text(piece.text, variables, "The URL");
        url += piece.is_encoded ? percent_encode(text) : text;
    }
    return url;
}

bool UrlTemplate::is_constant() const {
    return std::none_of(pieces_.begin(), pieces_.end(), [](const Piece& p) {
        return p.is_expression;
    });
}

bool UrlTemplate::has_variable_host() const {
    return std::any_of(pieces_.begin(), pieces_.end(), [](const Piece& p) {
        return p.is_expression && !p.is_encoded;
    });
}

std::vector<std::string> UrlTemplate::variables_read() const {
    std::vector<std::string> names;
    for (const Piece& piece : pieces_) {
        const auto& read = piece.text.variables_read();
        names.insert(names.end(), read.begin(), read.end());
    }
    return names;
}

std::string percent_encode(std::string_view text) {
    constexpr std::string_view kHex = "0123456789ABCDEF";
    constexpr std::string_view kUnreserved =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~";
    std::string encoded;
    for (const char c : text) {
        if (kUnreserved.find(c) != std::string_view::npos) {
            encoded += c;
        } else {
            const auto byte = static_cast<unsigned char>(c);
            encoded += '%';
            encoded += kHex[byte >> 4];
            encoded += kHex[byte & 15];
        }
    }
    return encoded;
}

}  // namespace ebb
