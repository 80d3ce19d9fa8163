#include "server/api/failure_group.h"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "support/json.h"
#include "support/sha256.h"

namespace ebb::server {

namespace {

constexpr std::size_t kMessageBytesMax = 512;
/// A word of so many hexadecimal digits is a hash or an id.
constexpr std::size_t kHexMin = 8;

bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

bool is_hex(char c) {
    return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

bool is_word(char c) {
    return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '-';
}

/// What stands for one word.
std::string placeholder(std::string_view word) {
    const auto is_hex_or_dash = [](char c) { return is_hex(c) || c == '-'; };
    const bool has_digit = std::any_of(word.begin(), word.end(), is_digit);
    if (!has_digit) return std::string(word);
    if (word.size() >= kHexMin && std::all_of(word.begin(), word.end(), is_hex_or_dash)) {
        return "<id>";
    }
    std::string text;
    for (std::size_t at = 0; at < word.size();) {
        if (!is_digit(word[at])) {
            text += word[at++];
            continue;
        }
        text += "<n>";
        while (at < word.size() && is_digit(word[at])) ++at;
    }
    return text;
}

std::string member(const nlohmann::json& json, const char* name) {
    const auto found = json.find(name);
    return found != json.end() && found->is_string() ? found->get<std::string>() : std::string();
}

}  // namespace

Failure read_failure(const Payload& error) {
    Failure failure;
    const auto json = nlohmann::json::parse(error, nullptr, false);
    if (!json.is_object()) return failure;
    failure.step = member(json, "step");
    if (const std::string code = member(json, "code"); !code.empty()) failure.code = code;
    const std::string message = member(json, "message");
    failure.message = clean_text(message.substr(0, message.find('\n')), kMessageBytesMax);
    return failure;
}

std::string normalise_message(std::string_view text) {
    std::string normal;
    for (std::size_t at = 0; at < text.size();) {
        const char c = text[at];
        if (c == '"' || c == '\'') {
            const std::size_t end = text.find(c, at + 1);
            if (end != std::string_view::npos) {
                normal += "<text>";
                at = end + 1;
                continue;
            }
        }
        if (c == '/' && (at == 0 || text[at - 1] == ' ' || text[at - 1] == '(')) {
            normal += "<path>";
            while (at < text.size() && text[at] != ' ' && text[at] != ')' && text[at] != ',') ++at;
            continue;
        }
        if (!is_word(c)) {
            normal += c;
            ++at;
            continue;
        }
        std::size_t end = at;
        while (end < text.size() && is_word(text[end])) ++end;
        normal += placeholder(text.substr(at, end - at));
        at = end;
    }
    return normal;
}

std::string group_of(std::string_view workflow, const Failure& failure) {
    return sha256_hex(fmt::format(
                          "{}\n{}\n{}\n{}",
                          workflow,
                          failure.step,
                          failure.code,
                          normalise_message(failure.message)
                      ))
        .substr(0, 16);
}

}  // namespace ebb::server
