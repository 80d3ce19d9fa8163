#pragma once

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>

#include "support/json_scan.h"

namespace ebb {

/// Builds a JSON text by hand, for documents that are written often. Commas before members are set
/// here; brackets, and what stands in lists, are the caller's.
class JsonWriter {
 public:
    JsonWriter() : at_(short_), end_(short_ + kShortBytes) {}

    JsonWriter(const JsonWriter&) = delete;
    JsonWriter& operator=(const JsonWriter&) = delete;

    void put(char c) {
        room(1);
        *at_++ = c;
    }

    /// `json` must be JSON, or a part of it.
    void raw(std::string_view json) {
        room(json.size());
        at_ = put_text(at_, json);
    }

    /// The name of the next member of the object that was begun last; `name` needs no escapes.
    template <std::size_t N>
    void key(const char (&name)[N]) {
        room(N + 3);
        at_ = put_key(at_, name);
    }

    void number(std::int64_t value) {
        room(kDigitsMax);
        at_ = put_number(at_, value);
    }

    /// As a string literal; invalid UTF-8 becomes U+FFFD.
    void string(std::string_view text) {
        constexpr std::size_t kNameBytes = 16;
        if (text.size() > kNameBytes) return any_string(text);
        room(kNameBytes + 2);
        char* at = at_;
        *at++ = '"';
        bool is_plain = true;
        for (const char c : text) {
            is_plain = is_plain && kPlainBytes[static_cast<unsigned char>(c)];
            *at++ = c;
        }
        *at++ = '"';
        if (!is_plain) return any_string(text);
        at_ = at;
    }

    template <std::size_t N>
    void number(const char (&name)[N], std::int64_t value) {
        room(N + 3 + kDigitsMax);
        at_ = put_number(put_key(at_, name), value);
    }

    template <std::size_t N>
    void string(const char (&name)[N], std::string_view text) {
        key(name);
        string(text);
    }

    template <std::size_t N>
    void raw(const char (&name)[N], std::string_view json) {
        room(N + 3 + json.size());
        at_ = put_text(put_key(at_, name), json);
    }

    /// As a string literal of plain bytes: see json_scan.h.
    void plain(std::string_view text) {
        room(text.size() + 2);
        at_ = put_plain(at_, text);
    }

    template <std::size_t N>
    void plain(const char (&name)[N], std::string_view text) {
        room(N + 5 + text.size());
        at_ = put_plain(put_key(at_, name), text);
    }

    /// Ends the writer.
    std::string take();

    /// Texts that are not longer are written without any memory but that of the result.
    static constexpr std::size_t kShortBytes = 2'048;

 private:
    static constexpr std::size_t kDigitsMax = 20;

    // What is written may be any byte in memory, so the position is kept in a register in the
    // meantime.

    template <std::size_t N>
    static char* put_key(char* at, const char (&name)[N]) {
        // Only an opening brace comes before the first member.
        const bool is_first = at[-1] == '{';
        *at = ',';
        at += is_first ? 0 : 1;
        *at = '"';
        std::memcpy(at + 1, name, N - 1);
        at[N] = '"';
        at[N + 1] = ':';
        return at + N + 2;
    }

    static char* put_number(char* at, std::int64_t value) {
        if (value >= 0 && value < 10) {
            *at = static_cast<char>('0' + value);
            return at + 1;
        }
        return std::to_chars(at, at + kDigitsMax, value).ptr;
    }

    static char* put_text(char* at, std::string_view text) {
        if (!text.empty()) std::memcpy(at, text.data(), text.size());
        return at + text.size();
    }

    static char* put_plain(char* at, std::string_view text) {
        *at = '"';
        at = put_text(at + 1, text);
        *at = '"';
        return at + 1;
    }

    void room(std::size_t bytes) {
        if (static_cast<std::size_t>(end_ - at_) < bytes) grow(bytes);
    }

    void grow(std::size_t bytes);
    void any_string(std::string_view text);

    char short_[kShortBytes];
    std::string long_;  // empty as long as it is short
    char* at_;
    char* end_;
};

}  // namespace ebb
