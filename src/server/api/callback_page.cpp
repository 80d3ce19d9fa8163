#include "server/api/callback_page.h"

#include <fmt/format.h>

#include "support/markup.h"
#include "support/secret_bytes.h"
#include "support/sha256.h"

namespace ebb::server {

namespace {

constexpr std::string_view kStyle =
    ":root{color-scheme:light dark}"
    "body{font:17px/1.5 system-ui,sans-serif;max-width:34rem;margin:12vh auto;padding:0 1rem}"
    "h1{font-size:1.5rem;overflow-wrap:anywhere}p{overflow-wrap:anywhere}"
    "textarea{display:block;width:100%;box-sizing:border-box;font:inherit;margin:.3rem 0 1rem;"
    "padding:.5rem}"
    "button{font:inherit;padding:.5rem 1.2rem;margin-right:.6rem;border:1px "
    "solid;border-radius:6px;"
    "cursor:pointer}"
    ".first{background:#0b6b4f;border-color:#0b6b4f;color:#fff}"
    ".soft{opacity:.75;font-size:.9rem}";
constexpr std::size_t kCommentCharactersMax = 256;

std::string bytes_of_hex(const std::string& hex) {
    std::string bytes;
    for (std::size_t i = 0; i + 1 < hex.size(); i += 2) {
        bytes += static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16));
    }
    return bytes;
}

/// Only the style of the page itself, and its form.
const std::string& policy() {
    static const std::string text = fmt::format(
        "default-src 'none'; style-src 'sha256-{}'; form-action 'self'; frame-ancestors 'none'; "
        "base-uri 'none'",
        base64(bytes_of_hex(sha256_hex(kStyle)))
    );
    return text;
}

std::string form(const CallbackPage& page) {
    if (!page.has_form) return {};
    if (!page.is_decision) {
        return "<form method=\"post\"><button class=\"first\">Continue</button></form>";
    }
    return fmt::format(
        "<form method=\"post\"><label>Comment (optional)<textarea name=\"comment\" rows=\"3\" "
        "maxlength=\"{}\"></textarea></label>"
        "<button class=\"first\" name=\"verdict\" value=\"confirm\">Confirm</button>"
        "<button name=\"verdict\" value=\"reject\">Reject</button></form>",
        kCommentCharactersMax
    );
}

}  // namespace

http::Response callback_page(const CallbackPage& page) {
    std::string body = fmt::format("<h1>{}</h1>", escape_markup(page.title));
    for (const std::string& line : page.lines)
        body += fmt::format("<p>{}</p>", escape_markup(line));
    body += form(page);
    if (!page.instance_href.empty()) {
        body += fmt::format(
            "<p class=\"soft\"><a href=\"{}\">Look at the instance</a> (needs a login)</p>",
            escape_markup(page.instance_href)
        );
    }
    http::Response response;
    response.set("Content-Type", "text/html; charset=utf-8");
    response.set("Cache-Control", "no-store");
    response.set("Content-Security-Policy", policy());
    response.set("X-Robots-Tag", "noindex");
    response.body = fmt::format(
        "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\">"
        "<meta name=\"viewport\" content=\"width=device-width\">"
        "<title>{} - Ebb</title><style>{}</style><body>{}</body></html>\n",
        escape_markup(page.title),
        kStyle,
        body
    );
    return response;
}

http::Response callback_problem_page(const Problem& problem) {
    const ProblemKind& kind = problem_kind(problem.code());
    const auto given = problem.members().find("title");
    http::Response response = callback_page(
        {.title =
             given != problem.members().end() ? given->get<std::string>() : std::string(kind.title),
         .lines = {problem.what()}}
    );
    response.status = kind.status;
    for (const http::Header& header : problem.headers()) response.headers.push_back(header);
    return response;
}

}  // namespace ebb::server
