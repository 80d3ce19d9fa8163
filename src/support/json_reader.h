#pragma once

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

#include "support/json_scan.h"

namespace ebb {

/// The fault of a JSON text, and its byte position.
class JsonSyntaxError : public std::runtime_error {
 public:
    JsonSyntaxError(const std::string& what, std::size_t at) : std::runtime_error(what), at_(at) {}

    std::size_t at() const { return at_; }

 private:
    std::size_t at_;
};

/// Reads a JSON text (RFC 8259) from front to back without building a tree: for documents that have
/// a known shape and are read often. It accepts what nlohmann's parser accepts, and checks
/// everything that it skips, including UTF-8. Views that it returns point into the text. Every
/// function throws JsonSyntaxError if the text is not what the call expects.
///
/// Most documents were written by this library, so their members come in a known order without
/// spaces: `begins`, `follows` and `rest` read an object by guessing the next member as a whole.
/// Their result is the same as that of `object`, whatever the text is. A copy continues from the
/// same position. The inline functions are faster in a copy whose address is not taken.
class JsonReader {
 public:
    /// Whether guesses may succeed or (for tests) never do.
    enum class Guess { Members, Nothing };

    static constexpr int kDepthMax = 128;

    explicit JsonReader(
        std::string_view text, int depth_max = kDepthMax, Guess guess = Guess::Members
    )
        : begin_(text.data()),
          at_(begin_),
          end_(begin_ + text.size()),
          depth_left_(depth_max),
          guess_(guess) {}

    /// Calls each(key) for every member; `each` must read its value. Keys with escapes are decoded.
    /// The view is valid until the next key is read.
    template <typename Each>
    void object(Each each) {
        open('{');
        if (!closes('}')) {
            do {
                member(each);
            } while (goes_on('}'));
        }
        ++depth_left_;
    }

    /// Moves past `opening`, an object's brace and its first member up to the colon, if the text
    /// continues with exactly that. False: nothing was read.
    template <std::size_t N>
    [[gnu::always_inline]] bool begins(const char (&opening)[N]) {
        if (guess_ == Guess::Nothing || depth_left_ <= 0 || !follows(opening)) return false;
        --depth_left_;
        return true;
    }

    /// Moves past `text`, a comma and a further member up to its colon, if the text continues with
    /// exactly that. Only after `begins` and a value.
    template <std::size_t N>
    [[gnu::always_inline]] bool follows(const char (&text)[N]) {
        constexpr std::size_t kSize = N - 1;
        if (left() < kSize || !starts_with(at_, text)) return false;
        at_ += kSize;
        return true;
    }

    /// As `object`, for the remaining members of an object that was begun and from which a value
    /// was read.
    template <typename Each>
    void rest(Each each) {
        while (goes_on('}')) member(each);
        ++depth_left_;
    }

    /// Moves past the brace that closes an object from which a value was read, if it comes
    /// immediately. False: nothing was read.
    [[gnu::always_inline]] bool ends() {
        if (!follows("}")) return false;
        ++depth_left_;
        return true;
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

    /// The current position, to return to later.
    struct Place {
        const char* at;
        int depth_left;
    };

    Place place() const { return {.at = at_, .depth_left = depth_left_}; }

    void back_to(const Place& place) {
        at_ = place.at;
        depth_left_ = place.depth_left;
    }

    /// The text that was read since then.
    std::string_view since(const Place& place) const {
        return {place.at, static_cast<std::size_t>(at_ - place.at)};
    }

    /// Sets `value` to the next value if an unsigned integer of at most 18 digits comes
    /// immediately, as JsonWriter writes it. False: nothing was read.
    [[gnu::always_inline]] bool plain_integer(std::int64_t& value) {
        // Most numbers have one digit.
        if (at_ != end_ && *at_ >= '0' && *at_ <= '9' && ends_value(at_ + 1)) {
            value = *at_++ - '0';
            return true;
        }
        std::int64_t read = 0;
        const char* at = read_digits(at_, end_, read);
        if (at == nullptr || (*at_ == '0' && at - at_ > 1) || !ends_value(at)) return false;
        value = read;
        at_ = at;
        return true;
    }

    /// A thousand times the next value, if an unsigned number with at most 11 digits before the
    /// point and 3 after it comes immediately. False: nothing was read.
    bool plain_thousandths(std::int64_t& value);

    /// Sets `value` to the next value if a string of plain bytes comes immediately. False: nothing
    /// was read.
    [[gnu::always_inline]] bool plain_string(std::string_view& value) {
        if (at_ == end_ || *at_ != '"') return false;
        const char* end = skip_plain_bytes(at_ + 1, end_);
        if (end == end_ || *end != '"') return false;
        value = {at_ + 1, static_cast<std::size_t>(end - at_ - 1)};
        at_ = end + 1;
        return true;
    }

    std::int64_t integer();

    double number();
    bool boolean();
    std::string string();

    /// The string itself, or its decoded form in `decoded` if it has escapes.
    std::string_view string_view(std::string& decoded) {
        std::string_view plain;
        return plain_string(plain) ? plain : any_string(decoded);
    }

    /// True if the next value is null, which is then read.
    bool null();
    /// The text of the next value, whatever it is.
    std::string_view raw();

    void skip() { raw(); }

    /// Nothing but spaces may follow.
    void end();

    /// The first character of the next value: `{`, `[`, `"`, `t`, `f`, `n`, `-` or a digit.
    char peek() {
        skip_space();
        if (at_ == end_) fail("the text ends too early");
        return *at_;
    }

 private:
    [[noreturn]] void fail(const char* what) const;

    /// Does a value that ends before `at` certainly end there?
    bool ends_value(const char* at) const {
        return at != end_ && (*at == ',' || *at == '}' || *at == ']');
    }

    static bool is_space(char c) {
        return c <= ' ' && (c == ' ' || c == '\n' || c == '\t' || c == '\r');
    }

    std::size_t left() const { return static_cast<std::size_t>(end_ - at_); }

    void skip_space() {
        while (at_ != end_ && is_space(*at_)) ++at_;
    }

    template <typename Each>
    void member(Each& each) {
        std::string_view key;
        if (plain_string(key)) {
            expect(':');
            return each(key);
        }
        std::string decoded;
        key = any_string(decoded);
        expect(':');
        each(key);
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

    std::string_view any_string(std::string& decoded);
    void literal(std::string_view word);
    std::string_view number_text();
    void skip_digits();
    void check_range(std::string_view digits) const;
    [[noreturn]] void fail_at(const char* at, const char* what);
    // Each returns the end of the element at `at`.
    const char* past_space(const char* at);
    const char* past_string(const char* at);
    const char* past_scalar(const char* at);
    const char* past_list(const char* at);
    const char* past_value(const char* at);
    /// Moves past the string's end; true if the string has escapes.
    bool skip_string();
    void skip_escape();
    void skip_utf8();

    const char* begin_;
    const char* at_;
    const char* end_;
    int depth_left_;
    Guess guess_;
};

}  // namespace ebb
