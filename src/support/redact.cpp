#include "support/redact.h"

#include <algorithm>
#include <optional>
#include <utility>

#include <nlohmann/json.hpp>

#include <ebb/error.h>

#include "support/json.h"
#include "support/unicode.h"

namespace ebb {

namespace {

constexpr std::string_view kBase64 =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

bool is_base64_char(char c) {
    return kBase64.find(c) != std::string_view::npos || c == '-' || c == '_';
}

/// The value of `count` hexadecimal digits at `at`; empty if they are not there.
std::optional<char32_t> hex_at(std::string_view text, std::size_t at, std::size_t count) {
    if (at + count > text.size()) return std::nullopt;
    char32_t value = 0;
    for (const char c : text.substr(at, count)) {
        const int digit = hex_digit(c);
        if (digit < 0) return std::nullopt;
        value = value * 16 + static_cast<char32_t>(digit);
    }
    return value;
}

/// One character of a text as a decoder of the text reads it.
struct Unit {
    std::string bytes;
    std::size_t length = 0;  ///< in the text
};

Unit unicode_escape_at(std::string_view text, std::size_t at) {
    const auto high = hex_at(text, at + 2, 4);
    if (!high) return {std::string(1, text[at]), 1};
    Unit unit{{}, 6};
    char32_t code = *high;
    if (code >= 0xD800 && code < 0xDC00 && text.substr(at + 6, 2) == "\\u") {
        const auto low = hex_at(text, at + 8, 4);
        if (low && *low >= 0xDC00 && *low < 0xE000) {
            code = 0x10000 + ((code - 0xD800) << 10) + (*low - 0xDC00);
            unit.length = 12;
        }
    }
    append_utf8(unit.bytes, code);
    return unit;
}

Unit unit_at(std::string_view text, std::size_t at) {
    const Unit literal{std::string(1, text[at]), 1};
    if (text[at] == '%') {
        const auto value = hex_at(text, at + 1, 2);
        return value ? Unit{std::string(1, static_cast<char>(*value)), 3} : literal;
    }
    if (text[at] != '\\' || at + 1 >= text.size()) return literal;
    constexpr std::string_view kLetters = "nrtbf\"\\/";
    constexpr std::string_view kMeanings = "\n\r\t\b\f\"\\/";
    if (text[at + 1] == 'u') return unicode_escape_at(text, at);
    const std::size_t known = kLetters.find(text[at + 1]);
    return known == std::string_view::npos ? literal : Unit{std::string(1, kMeanings[known]), 2};
}

struct Match {
    std::size_t end = 0;
    bool is_whole = false;
    bool has_run_out = false;  ///< all of the text fits, but there is not enough of it
};

Match match_raw(std::string_view needle, std::string_view text, std::size_t at) {
    const std::string_view rest = text.substr(at, needle.size());
    if (!needle.starts_with(rest)) return {};
    const bool is_whole = rest.size() == needle.size();
    return {at + rest.size(), is_whole, !is_whole};
}

Match match_decoded(std::string_view needle, std::string_view text, std::size_t at) {
    while (!needle.empty()) {
        if (at >= text.size()) return {at, false, true};
        // A form's encoding of a space.
        if (needle.front() == ' ' && text[at] == '+') {
            needle.remove_prefix(1);
            ++at;
            continue;
        }
        const Unit unit = unit_at(text, at);
        if (!needle.starts_with(unit.bytes)) {
            // The escape itself may have been cut.
            constexpr std::size_t kEscapeBytesMax = 6;
            const bool is_escape = text[at] == '%' || text[at] == '\\';
            const bool is_at_end = text.size() - at < kEscapeBytesMax && unit.length == 1;
            return {text.size(), false, is_escape && is_at_end};
        }
        needle.remove_prefix(unit.bytes.size());
        at += unit.length;
    }
    return {at, true, false};
}

Match match_at(std::string_view needle, std::string_view text, std::size_t at) {
    const Match raw = match_raw(needle, text, at);
    if (raw.is_whole) return raw;
    const Match decoded = match_decoded(needle, text, at);
    return decoded.is_whole || !raw.has_run_out ? decoded : raw;
}

std::string base64(std::string_view bytes, std::size_t skipped) {
    const auto bit = [&](std::size_t i) -> unsigned {
        const std::size_t byte = i / 8;
        if (byte < skipped || byte - skipped >= bytes.size()) return 0;
        return (static_cast<unsigned char>(bytes[byte - skipped]) >> (7 - i % 8)) & 1U;
    };
    // Only the characters that nothing but `bytes` decides.
    std::string text;
    const std::size_t end = (skipped + bytes.size()) * 8;
    for (std::size_t at = (skipped * 8 + 5) / 6 * 6; at + 6 <= end; at += 6) {
        unsigned value = 0;
        for (std::size_t i = 0; i < 6; ++i) value = value * 2 + bit(at + i);
        text += kBase64[value];
    }
    return text;
}

void collect(const Json& secrets, std::vector<std::string>& found) {
    for (const auto& [name, value] : secrets.items()) {
        if (value.is_object()) {
            collect(value, found);
        } else if (value.is_string()) {
            found.push_back(value.get<std::string>());
        } else {
            throw Error(
                ErrorCode::InvalidPayload,
                "The secret \"" + name + "\" is not a string; secrets must be strings."
            );
        }
    }
}

bool is_cut_front(Redactor::Cut cut) {
    return cut == Redactor::Cut::Front || cut == Redactor::Cut::Both;
}

bool is_cut_back(Redactor::Cut cut) {
    return cut == Redactor::Cut::Back || cut == Redactor::Cut::Both;
}

}  // namespace

Redactor::Redactor(const std::vector<std::string>& secrets, std::size_t bytes_min) {
    for (const std::string& secret : secrets) {
        if (secret.size() >= std::max<std::size_t>(bytes_min, 1)) add(secret);
    }
    std::sort(needles_.begin(), needles_.end(), [](const Needle& left, const Needle& right) {
        return left.text.size() > right.text.size();
    });
}

Redactor Redactor::of(const Json& secrets) {
    if (!secrets.is_object()) {
        throw Error(ErrorCode::InvalidPayload, "The secrets must be a JSON object.");
    }
    std::vector<std::string> found;
    collect(secrets, found);
    return Redactor(found);
}

void Redactor::add(std::string secret) {
    add_base64(secret);
    for (const char start : {secret.front(), '%', '\\', secret.front() == ' ' ? '+' : '%'}) {
        starts_[static_cast<unsigned char>(start)] = true;
    }
    needles_.push_back({std::move(secret), false});
}

void Redactor::add_base64(std::string_view secret) {
    if (secret.size() < kSecretBytesMin) return;
    for (std::size_t skipped = 0; skipped < 3; ++skipped) {
        std::string core = base64(secret, skipped);
        starts_[static_cast<unsigned char>(core.front())] = true;
        std::string url_safe = core;
        std::replace(url_safe.begin(), url_safe.end(), '+', '-');
        std::replace(url_safe.begin(), url_safe.end(), '/', '_');
        starts_[static_cast<unsigned char>(url_safe.front())] = true;
        if (url_safe != core) needles_.push_back({std::move(url_safe), true});
        needles_.push_back({std::move(core), true});
    }
}

/// The longest secret that begins at `at`; an empty span if there is none.
Redactor::Span Redactor::find_at(std::string_view text, std::size_t at, bool is_cut_behind) const {
    Span found{at, at};
    for (const Needle& needle : needles_) {
        const Match match = match_at(needle.text, text, at);
        const bool is_part = is_cut_behind && match.has_run_out;
        if (!match.is_whole && !(is_part && text.size() - at >= kSecretBytesMin)) continue;
        Span span{at, match.is_whole ? match.end : text.size()};
        if (needle.is_base64) {
            // The characters at both ends hold some bits of the secret, too.
            if (span.begin > 0 && is_base64_char(text[span.begin - 1])) --span.begin;
            if (span.end < text.size() && is_base64_char(text[span.end])) ++span.end;
        }
        found = {std::min(found.begin, span.begin), std::max(found.end, span.end)};
    }
    return found;
}

/// How much of the beginning of `text` is the end of a secret; at its very start there may be the
/// rest of an escape.
std::size_t Redactor::cut_prefix(std::string_view text) const {
    constexpr std::size_t kEscapeRestMax = 5;
    std::size_t longest = 0;
    for (std::size_t at = 0; at <= std::min(kEscapeRestMax, text.size()); ++at) {
        for (const Needle& needle : needles_) {
            for (std::size_t from = 1; from + kSecretBytesMin <= needle.text.size(); ++from) {
                const Match match = match_at(std::string_view(needle.text).substr(from), text, at);
                if (!match.is_whole) continue;
                longest = std::max(longest, match.end);
                break;
            }
        }
    }
    return longest;
}

std::vector<Redactor::Span> Redactor::find(std::string_view text, Cut cut) const {
    std::vector<Span> spans;
    if (needles_.empty()) return spans;
    if (is_cut_front(cut)) {
        if (const std::size_t end = cut_prefix(text); end > 0) spans.push_back({0, end});
    }
    for (std::size_t at = 0; at < text.size(); ++at) {
        if (!starts_[static_cast<unsigned char>(text[at])]) continue;
        const Span span = find_at(text, at, is_cut_back(cut));
        if (span.begin == span.end) continue;
        if (!spans.empty() && span.begin < spans.back().end) {
            spans.back().end = std::max(spans.back().end, span.end);
        } else {
            spans.push_back(span);
        }
    }
    return spans;
}

std::string Redactor::text(std::string_view text, Cut cut) const {
    std::string cleaned;
    std::size_t done = 0;
    for (const Span& span : find(text, cut)) {
        cleaned += text.substr(done, span.begin - done);
        cleaned += kMark;
        done = span.end;
    }
    return cleaned += text.substr(done);
}

std::string Redactor::excerpt(std::string_view whole, std::size_t bytes_max) const {
    return clean_text(text(whole), bytes_max);
}

namespace {

std::string percent_decoded(std::string_view text) {
    std::string decoded;
    for (std::size_t at = 0; at < text.size();) {
        const auto value = text[at] == '%' ? hex_at(text, at + 1, 2) : std::nullopt;
        decoded += value ? static_cast<char>(*value) : text[at];
        at += value ? 3 : 1;
    }
    return decoded;
}

bool is_secret_parameter(std::string_view parameter) {
    const std::string name = percent_decoded(parameter.substr(0, parameter.find('=')));
    return name.find("password") != std::string::npos || name.find("secret") != std::string::npos;
}

}  // namespace

std::string url_without_secrets(std::string_view url) {
    const std::size_t scheme = url.find("://");
    if (scheme == std::string_view::npos) return std::string(url);
    std::vector<bool> is_hidden(url.size(), false);
    const auto hide = [&](std::size_t begin, std::size_t end) {
        for (std::size_t at = begin; at < end; ++at) is_hidden[at] = true;
    };
    // The last '@' of all: a password may hold some that are not encoded.
    const std::size_t colon = url.find(':', scheme + 3);
    const std::size_t at_sign = url.rfind('@');
    if (at_sign != std::string_view::npos && colon < at_sign) hide(colon, at_sign);
    for (std::size_t at = url.find('?'); at != std::string_view::npos; at = url.find('&', at + 1)) {
        const std::size_t end = std::min(url.find('&', at + 1), url.size());
        if (is_secret_parameter(url.substr(at + 1, end - at - 1))) hide(at + 1, end);
    }
    std::string shown;
    for (std::size_t at = 0; at < url.size(); ++at) {
        if (!is_hidden[at]) shown += url[at];
    }
    return shown;
}

Json Redactor::clean(const Json& value, Cut cut) const {
    if (value.is_string()) return text(value.get_ref<const std::string&>(), cut);
    if (value.is_array()) {
        Json cleaned = Json::array();
        for (const Json& part : value) cleaned.push_back(clean(part, cut));
        return cleaned;
    }
    if (!value.is_object()) return value;
    Json cleaned = Json::object();
    for (const auto& [key, part] : value.items()) cleaned[text(key, cut)] = clean(part, cut);
    return cleaned;
}

Payload Redactor::payload(const Payload& payload, Cut cut) const {
    if (needles_.empty()) return payload;
    // An escape inside an escape is seen only after parsing.
    const bool may_hide = cut != Cut::None || payload.find('\\') != std::string::npos;
    if (!may_hide && find(payload, cut).empty()) return payload;
    const Json value = Json::parse(payload, nullptr, false);
    if (value.is_discarded()) return text(payload, cut);
    const Json cleaned = clean(value, cut);
    // Keys keep their order if there is nothing to hide.
    return cleaned == value ? payload : Payload(to_text(cleaned));
}

}  // namespace ebb
