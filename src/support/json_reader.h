#pragma once

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

namespace ebb {

/// What is wrong with a JSON text, and at which byte.
class JsonSyntaxError : public std::runtime_error {
 public:
    JsonSyntaxError(const std::string& what, std::size_t at) : std::runtime_error(what), at_(at) {}

    std::size_t at() const { return at_; }

 private:
    std::size_t at_;
};

/// Reads a JSON text (RFC 8259) from front to back without building a tree: for documents whose
/// shape is known and that are read often. It accepts what nlohmann's parser accepts: everything
/// that it passes over is checked, UTF-8 included. What it returns as a view lies in the text.
/// Every function throws JsonSyntaxError where the text is not what was asked for.
class JsonReader {
 public:
    explicit JsonReader(std::string_view text, int depth_max = 128)
        : text_(text), depth_left_(depth_max) {}

    /// Calls each(key) for every member; `each` must read its value. Keys with escapes are decoded;
    /// the view is good until the next key is read.
    template <typename Each>
    void object(Each each) {
        open('{');
        if (!closes('}')) {
            std::string decoded;
            do {
                skip_space();
                const std::string_view key = string_view(decoded);
                expect(':');
                each(key);
            } while (goes_on('}'));
        }
        ++depth_left_;
    }

    /// Calls each() for every element; `each` must read it.
    template <typename Each>
    void array(Each each) {
        open('[');
        if (!closes(']')) {
            do {
                each();
            } while (goes_on(']'));
        }
        ++depth_left_;
    }

    std::int64_t integer();
    double number();
    bool boolean();
    std::string string();
    /// The string itself, or decoded into `decoded` when it has escapes.
    std::string_view string_view(std::string& decoded);
    /// True, and past it, when the next value is null.
    bool null();
    /// The text of the next value, whatever it is.
    std::string_view raw();

    void skip() { raw(); }

    /// Nothing but spaces may follow.
    void end();

    /// What the next value begins with: `{`, `[`, `"`, `t`, `f`, `n`, `-` or a digit.
    char peek() {
        skip_space();
        if (at_ >= text_.size()) fail("the text ends too early");
        return text_[at_];
    }

 private:
    [[noreturn]] void fail(const char* what) const;

    void skip_space() {
        while (at_ < text_.size()) {
            const char c = text_[at_];
            if (c != ' ' && c != '\n' && c != '\t' && c != '\r') return;
            ++at_;
        }
    }

    void open(char bracket) {
        if (peek() != bracket) {
            fail(bracket == '{' ? "an object is expected" : "a list is expected");
        }
        if (--depth_left_ < 0) fail("it is nested too deep");
        ++at_;
    }

    bool closes(char bracket) {
        if (peek() != bracket) return false;
        ++at_;
        return true;
    }

    bool goes_on(char bracket) {
        const char c = peek();
        if (c != ',' && c != bracket) fail("a comma or the end of the list is expected");
        ++at_;
        return c == ',';
    }

    void expect(char c) {
        if (peek() != c) fail("a colon is expected");
        ++at_;
    }

    void literal(std::string_view word);
    std::string_view number_text();
    void check_range(std::string_view digits) const;
    void skip_value();
    /// Past the string's end; true when it holds escapes.
    bool skip_string();
    void skip_escape();
    void skip_utf8();

    std::string_view text_;
    std::size_t at_ = 0;
    int depth_left_;
};

}  // namespace ebb
