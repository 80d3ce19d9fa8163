#include "support/json.h"

#include <algorithm>

#include <fmt/format.h>

#include <ebb/error.h>

#include "support/json_cure.h"
#include "support/json_reader.h"
#include "support/json_scan.h"

namespace ebb {

int json_depth(std::string_view text) {
    int depth = 0;
    int deepest = 0;
    bool in_string = false;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        if (in_string) {
            if (c == '\\') {
                ++i;
            } else if (c == '"') {
                in_string = false;
            }
        } else if (c == '"') {
            in_string = true;
        } else if (c == '[' || c == '{') {
            deepest = std::max(deepest, ++depth);
        } else if (c == ']' || c == '}') {
            --depth;
        }
    }
    return deepest;
}

namespace {

void check_bounds(std::string_view text, std::string_view what, const PayloadLimits& limits) {
    if (text.size() > limits.payload_bytes_max) {
        throw Error(
            ErrorCode::PayloadTooLarge,
            fmt::format(
                "{} has {} bytes; payload_bytes_max allows {}.",
                what,
                text.size(),
                limits.payload_bytes_max
            )
        );
    }
    const int depth = json_depth(text);
    if (depth > limits.json_depth_max) {
        throw Error(
            ErrorCode::PayloadTooLarge,
            fmt::format(
                "{} is nested {} deep; json_depth_max allows {}.",
                what,
                depth,
                limits.json_depth_max
            )
        );
    }
}

/// True when the text contains the escape of U+0000 inside a string: PostgreSQL's text cannot hold
/// what it means.
bool has_escaped_nul(std::string_view text) {
    for (std::size_t at = text.find("\\u0000"); at != std::string_view::npos;
         at = text.find("\\u0000", at + 1)) {
        std::size_t backslashes = 0;
        while (backslashes < at && text[at - 1 - backslashes] == '\\') ++backslashes;
        if (backslashes % 2 == 0) return true;
    }
    return false;
}

bool has_nul(std::string_view text) {
    return has_escaped_nul(text) || text.find('\0') != std::string_view::npos;
}

void check_nul(std::string_view text, std::string_view what) {
    if (has_nul(text)) {
        throw Error(
            ErrorCode::InvalidPayload,
            fmt::format(
                "{} contains the character U+0000, which no store can keep in a text.", what
            )
        );
    }
}

bool is_json(std::string_view text, int depth_max) {
    try {
        JsonReader reader(text, depth_max);
        reader.skip();
        reader.end();
        return true;
    } catch (const JsonSyntaxError&) {
        return false;
    }
}

}  // namespace

std::string not_json(std::string_view what, const std::exception& error) {
    std::string reason = error.what();
    if (const auto end = reason.find("] "); end != std::string::npos) reason.erase(0, end + 2);
    constexpr std::string_view kPlace = "parse error at ";
    if (reason.starts_with(kPlace)) reason.erase(0, kPlace.size());
    return fmt::format("{} is not valid JSON: {}.", what, clean_text(reason, 300));
}

Json parse_json(std::string_view text, std::string_view what, const PayloadLimits& limits) {
    check_bounds(text, what, limits);
    check_nul(text, what);
    try {
        return Json::parse(text);
    } catch (const nlohmann::json::parse_error& error) {
        const std::size_t at = error.byte == 0 ? 0 : error.byte - 1;
        throw Error(ErrorCode::InvalidPayload, not_json(what, error).append(json_cure(text, at)));
    } catch (const nlohmann::json::exception& error) {
        throw Error(ErrorCode::InvalidPayload, not_json(what, error));
    }
}

void check_payload(std::string_view text, std::string_view what, const PayloadLimits& limits) {
    // The reader refuses what is nested too deep, and a byte of zero.
    const bool is_good = text.size() <= limits.payload_bytes_max &&
                         is_json(text, limits.json_depth_max) && !has_escaped_nul(text);
    if (is_good) return;
    parse_json(text, what, limits);
}

std::string to_text(const Json& value) {
    return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

void append_json_string(std::string& out, std::string_view text) {
    if (is_plain(text)) {
        out += '"';
        out += text;
        out += '"';
    } else {
        out += to_text(Json(std::string(text)));
    }
}

void append_number(std::string& out, std::int64_t value) {
    const fmt::format_int digits(value);
    out.append(digits.data(), digits.size());
}

std::string clean_text(std::string_view text, std::size_t bytes_max) {
    if (const auto shown = text.substr(0, bytes_max); is_plain(shown)) return std::string(shown);
    std::string clean = to_text(Json(std::string(text.substr(0, bytes_max + 4))));
    clean = Json::parse(clean).get<std::string>();
    std::replace(clean.begin(), clean.end(), '\0', ' ');
    if (clean.size() <= bytes_max) return clean;
    std::size_t end = bytes_max;
    while (end > 0 && (static_cast<unsigned char>(clean[end]) & 0xC0) == 0x80) --end;
    clean.resize(end);
    return clean;
}

}  // namespace ebb
