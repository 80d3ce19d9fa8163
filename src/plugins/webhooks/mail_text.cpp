#include "plugins/webhooks/mail_text.h"

#include <algorithm>
#include <ctime>

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "support/json.h"
#include "support/markup.h"
#include "support/secret_bytes.h"
#include "support/sha256.h"

namespace ebb::webhooks {

namespace {

constexpr std::size_t kSubjectBytesMax = 160;
constexpr std::size_t kTextBytesMax = 1'024;
constexpr std::string_view kLine = "\r\n";

/// One line without control characters: what would begin another header becomes a space.
std::string one_line(std::string_view text, std::size_t bytes_max) {
    std::string line = clean_text(text, bytes_max);
    for (char& c : line) {
        if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = ' ';
    }
    return line;
}

/// Where a text of at most `bytes_max` bytes ends between two characters.
std::size_t cut(std::string_view text, std::size_t bytes_max) {
    if (text.size() <= bytes_max) return text.size();
    std::size_t end = bytes_max;
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0U) == 0x80U) --end;
    return end;
}

/// As the value of a header: encoded words of RFC 2047, of which each fits on a line.
std::string header_text(std::string_view text) {
    constexpr std::size_t kWordBytes = 42;
    std::string encoded;
    while (!text.empty()) {
        const std::size_t bytes = cut(text, kWordBytes);
        if (!encoded.empty()) encoded += "\r\n ";
        encoded += "=?UTF-8?B?" + base64(text.substr(0, bytes)) + "?=";
        text.remove_prefix(bytes);
    }
    return encoded;
}

/// In lines of 76 characters.
std::string body_text(std::string_view text) {
    constexpr std::size_t kColumns = 76;
    const std::string all = base64(text);
    std::string lines;
    for (std::size_t at = 0; at < all.size(); at += kColumns) {
        lines += all.substr(at, kColumns);
        lines += kLine;
    }
    return lines;
}

std::string date_text(TimePoint now) {
    const auto seconds =
        std::chrono::duration_cast<std::chrono::seconds>(now.time_since_epoch()).count();
    return fmt::format(
        "{:%a, %d %b %Y %H:%M:%S} +0000", fmt::gmtime(static_cast<std::time_t>(seconds))
    );
}

std::string text_of(const Json& json, const char* name) {
    const auto found = json.find(name);
    return found != json.end() && found->is_string() ? found->get<std::string>() : std::string();
}

struct Line {
    std::string text;
    std::string link{};  ///< empty = none
};

std::string counted(const Digest& digest) {
    return fmt::format("{}{}", digest.has_more ? "more than " : "", digest.count);
}

std::vector<Line> lines_of(const Event& event, const Digest& digest, const MailLinks& links) {
    const auto link = [&](const std::string& instance) {
        return links.site.empty() || instance.empty() ? std::string()
                                                      : links.site + "/instances/" + instance;
    };
    const Json data = Json::parse(event.data);
    std::vector<Line> lines{{one_line(sentence_of(event), kTextBytesMax)}};
    if (!links.decision.empty()) {
        lines.push_back({"Confirm or reject, without a login", links.decision});
        lines.push_back({"This link is for you alone: do not forward it. It works once."});
    }
    const std::string instance = text_of(data, "instance");
    if (!instance.empty()) lines.push_back({"Instance " + instance, link(instance)});
    lines.push_back({event.type + " at " + event.timestamp});
    if (digest.count < 2 && !digest.has_more) return lines;
    lines.push_back({fmt::format("With the same cause there are {} dead letters:", counted(digest))}
    );
    for (const FailedInstance& failed : digest.shown) {
        const std::string id = failed.instance.to_string();
        lines.push_back({one_line(failed.key.empty() ? id : failed.key + "  " + id, 512), link(id)}
        );
    }
    if (digest.has_more || digest.count > digest.shown.size()) lines.push_back({"..."});
    return lines;
}

std::string plain_part(const std::vector<Line>& lines) {
    std::string text;
    for (const Line& line : lines) {
        text += line.text;
        text += kLine;
        if (line.link.empty()) continue;
        text += line.link;
        text += kLine;
    }
    return text;
}

std::string html_part(const std::vector<Line>& lines) {
    std::string html = "<!doctype html><meta charset=\"utf-8\"><body>";
    for (const Line& line : lines) {
        const std::string text = escape_markup(line.text);
        html += line.link.empty()
                    ? fmt::format("<p>{}</p>", text)
                    : fmt::format("<p><a href=\"{}\">{}</a></p>", escape_markup(line.link), text);
    }
    return html + "</body>";
}

std::string subject_of(const Event& event, const Digest& digest) {
    std::string subject = "[Ebb] ";
    if (digest.count > 1) subject += counted(digest) + " dead letters: ";
    return one_line(subject + sentence_of(event), kSubjectBytesMax);
}

}  // namespace

std::string make_mail(
    const MailAddresses& addresses,
    const Event& event,
    const Digest& digest,
    const MailLinks& links,
    TimePoint now
) {
    const std::vector<Line> lines = lines_of(event, digest, links);
    // Mails with links of their own are not the same message.
    const std::string id = links.decision.empty()
                               ? event.id
                               : event.id + "." + sha256_hex(links.decision).substr(0, 16);
    const std::string boundary = "ebb-" + sha256_hex(event.id).substr(0, 32);
    const auto part = [&](const char* type, const std::string& text) {
        return fmt::format(
            "--{}\r\nContent-Type: {}; charset=utf-8\r\nContent-Transfer-Encoding: "
            "base64\r\n\r\n{}",
            boundary,
            type,
            body_text(text)
        );
    };
    return fmt::format(
        "Date: {}\r\nFrom: {}\r\nTo: {}\r\nSubject: {}\r\nMessage-ID: <{}@ebb>\r\n"
        "Auto-Submitted: auto-generated\r\nMIME-Version: 1.0\r\n"
        "Content-Type: multipart/alternative;\r\n boundary=\"{}\"\r\n\r\n{}{}--{}--\r\n",
        date_text(now),
        addresses.from,
        fmt::join(addresses.to, ",\r\n "),
        header_text(subject_of(event, digest)),
        id,
        boundary,
        part("text/plain", plain_part(lines)),
        part("text/html", html_part(lines)),
        boundary
    );
}

}  // namespace ebb::webhooks
