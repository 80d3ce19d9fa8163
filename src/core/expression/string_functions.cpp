// The functions of strings. Indices count characters (code points).

#include <algorithm>
#include <cstring>
#include <string>

#include <ebb/error.h>

#include "core/expression/functions.h"
#include "core/expression/source.h"
#include "support/unicode.h"

namespace ebb::expression {

namespace {

bool is_continuation(char c) {
    return (static_cast<unsigned char>(c) & 0xC0) == 0x80;
}

/// The byte at which character number `index` begins; the end when there are fewer.
std::size_t byte_of(std::string_view text, std::size_t index) {
    std::size_t at = 0;
    for (; index > 0 && at < text.size(); --index) {
        ++at;
        while (at < text.size() && is_continuation(text[at])) ++at;
    }
    return at;
}

/// Finds in linear time, which std's find does not: a hostile input must not buy time.
std::size_t find_text(std::string_view text, std::string_view part) {
    if (part.empty()) return 0;
    if (text.empty()) return std::string_view::npos;
    const void* found = memmem(text.data(), text.size(), part.data(), part.size());
    if (found == nullptr) return std::string_view::npos;
    return static_cast<std::size_t>(static_cast<const char*>(found) - text.data());
}

/// The arguments of a string function with their types checked.
class Strings {
 public:
    Strings(Context& context, std::string_view function, Arguments arguments)
        : context_(context), function_(function), arguments_(arguments) {}

    /// Argument number `at` as a string, empty after a failure.
    std::string_view text(std::size_t at) {
        const Value& value = arguments_[at];
        if (!value.is(Kind::String)) {
            fail_type(at, "a string");
            return {};
        }
        context_.charge_bytes(value.extra);
        return value.string();
    }

    /// Argument number `at` as an int, or `otherwise` when it was not given.
    std::int64_t number(std::size_t at, std::int64_t otherwise) {
        if (at >= arguments_.size()) return otherwise;
        const Value& value = arguments_[at];
        if (value.is(Kind::Int)) return value.integer;
        fail_type(at, "an int");
        return 0;
    }

    /// The same as an index from 0 to the size of `text`, both included.
    std::size_t index(std::size_t at, std::size_t size, std::size_t otherwise) {
        const std::int64_t found = number(at, static_cast<std::int64_t>(otherwise));
        if (found < 0 || found > static_cast<std::int64_t>(size)) {
            fail(context_.fail(
                "The index {} is outside of the string, which has {} characters.", found, size
            ));
            return 0;
        }
        return static_cast<std::size_t>(found);
    }

    bool has_failed() const { return failure_.is(Kind::Failure); }

    const Value& failure() const { return failure_; }

 private:
    /// The first failure counts.
    void fail(const Value& failure) {
        if (!has_failed()) failure_ = failure;
    }

    void fail_type(std::size_t at, std::string_view wanted) {
        const std::string_view found = a_type(arguments_[at]);
        if (at == 0) {
            fail(context_.fail("{}() is called on {}, but this is {}.", function_, wanted, found));
        } else {
            fail(context_.fail(
                "Argument {} of {}() is {}, but this is {}.", at, function_, wanted, found
            ));
        }
    }

    Context& context_;
    std::string_view function_;
    Arguments arguments_;
    Value failure_ = null_value();
};

constexpr std::size_t kComparisonsPerStep = std::size_t{1} << 16;

/// The characters that Unicode calls white space, as trim() takes them away.
constexpr std::u32string_view kBlanks =
    U"\t\n\v\f\r \u0085\u00A0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009"
    U"\u200A\u2028\u2029\u202F\u205F\u3000";

/// The bytes of the blank that `text` begins with; 0 when it begins with none.
std::size_t blank_at(std::string_view text) {
    for (const char32_t blank : kBlanks) {
        std::string bytes;
        append_utf8(bytes, blank);
        if (text.starts_with(bytes)) return bytes.size();
    }
    return 0;
}

std::size_t blank_before_end(std::string_view text) {
    std::size_t last = text.size();
    while (last > 0 && is_continuation(text[--last])) continue;
    return blank_at(text.substr(last)) == text.size() - last ? text.size() - last : 0;
}

template <typename Change>
Value changed(Context& context, std::string_view function, Arguments arguments, Change change) {
    Strings strings(context, function, arguments);
    std::string text(strings.text(0));
    if (strings.has_failed()) return strings.failure();
    std::transform(text.begin(), text.end(), text.begin(), change);
    return context.text(text);
}

/// A text that grows within the evaluation's bounds.
class Builder {
 public:
    explicit Builder(Context& context) : context_(context) {}

    Builder& add(std::string_view text) {
        context_.check_bytes(text_.size() + text.size());
        text_ += text;
        return *this;
    }

    Value done() { return context_.text(text_); }

 private:
    Context& context_;
    std::string text_;
};

/// Elements that are parts of an existing text.
class Parts {
 public:
    explicit Parts(Context& context) : context_(context), list_(context.new_list()) {}

    void add(std::string_view part) {
        context_.charge(1);
        context_.check_elements(list_->items.size() + 1);
        list_->items.push_back(string_value(part));
    }

    Value done() const { return list_value(list_); }

 private:
    Context& context_;
    List* list_;
};

}  // namespace

Value contains(Context& context, Arguments arguments) {
    Strings strings(context, "contains", arguments);
    const std::string_view text = strings.text(0);
    const std::string_view part = strings.text(1);
    if (strings.has_failed()) return strings.failure();
    return bool_value(find_text(text, part) != std::string_view::npos);
}

Value starts_with(Context& context, Arguments arguments) {
    Strings strings(context, "startsWith", arguments);
    const std::string_view text = strings.text(0);
    const std::string_view part = strings.text(1);
    if (strings.has_failed()) return strings.failure();
    return bool_value(text.starts_with(part));
}

Value ends_with(Context& context, Arguments arguments) {
    Strings strings(context, "endsWith", arguments);
    const std::string_view text = strings.text(0);
    const std::string_view part = strings.text(1);
    if (strings.has_failed()) return strings.failure();
    return bool_value(text.ends_with(part));
}

Value matches(Context& context, Arguments arguments) {
    constexpr std::size_t kMatchedBytesPerStep = 16;
    Strings strings(context, "matches", arguments);
    const std::string_view text = strings.text(0);
    const std::string_view pattern = strings.text(1);
    if (strings.has_failed()) return strings.failure();
    context.charge(static_cast<std::int64_t>(text.size() / kMatchedBytesPerStep));
    try {
        return bool_value(context.pattern(pattern).is_found_in(text));
    } catch (const Error& error) {
        return context.fail("The pattern \"{}\" is not valid: {}.", pattern, error.what());
    }
}

Value char_at(Context& context, Arguments arguments) {
    Strings strings(context, "charAt", arguments);
    const std::string_view text = strings.text(0);
    const std::size_t index = strings.index(1, count_characters(text), 0);
    if (strings.has_failed()) return strings.failure();
    const std::string_view rest = text.substr(byte_of(text, index));
    return string_value(rest.substr(0, byte_of(rest, 1)));
}

Value index_of(Context& context, Arguments arguments) {
    Strings strings(context, "indexOf", arguments);
    const std::string_view text = strings.text(0);
    const std::string_view part = strings.text(1);
    const std::size_t from = strings.index(2, count_characters(text), 0);
    if (strings.has_failed()) return strings.failure();
    const std::size_t found = find_text(text.substr(byte_of(text, from)), part);
    if (found == std::string_view::npos) return int_value(-1);
    const std::string_view before = text.substr(0, byte_of(text, from) + found);
    return int_value(static_cast<std::int64_t>(count_characters(before)));
}

Value last_index_of(Context& context, Arguments arguments) {
    Strings strings(context, "lastIndexOf", arguments);
    const std::string_view text = strings.text(0);
    const std::string_view part = strings.text(1);
    const std::size_t size = count_characters(text);
    const std::size_t from = strings.index(2, size, size);
    if (strings.has_failed()) return strings.failure();
    // Searching backwards is not linear, so it is paid for by its worst case.
    context.charge(static_cast<std::int64_t>(text.size() * part.size() / kComparisonsPerStep));
    const std::size_t found = text.rfind(part, byte_of(text, from));
    if (found == std::string_view::npos) return int_value(-1);
    return int_value(static_cast<std::int64_t>(count_characters(text.substr(0, found))));
}

Value substring(Context& context, Arguments arguments) {
    Strings strings(context, "substring", arguments);
    const std::string_view text = strings.text(0);
    const std::size_t size = count_characters(text);
    const std::size_t from = strings.index(1, size, 0);
    const std::size_t to = strings.index(2, size, size);
    if (strings.has_failed()) return strings.failure();
    if (from > to) {
        return context.fail(
            "substring() cannot begin at {} and end at {}, which is before it.", from, to
        );
    }
    const std::string_view rest = text.substr(byte_of(text, from));
    return string_value(rest.substr(0, byte_of(rest, to - from)));
}

Value lower_ascii(Context& context, Arguments arguments) {
    return changed(context, "lowerAscii", arguments, [](char c) {
        return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
    });
}

Value upper_ascii(Context& context, Arguments arguments) {
    return changed(context, "upperAscii", arguments, [](char c) {
        return c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c;
    });
}

Value trim(Context& context, Arguments arguments) {
    Strings strings(context, "trim", arguments);
    std::string_view text = strings.text(0);
    if (strings.has_failed()) return strings.failure();
    while (const std::size_t bytes = blank_at(text)) text.remove_prefix(bytes);
    while (!text.empty()) {
        const std::size_t bytes = blank_before_end(text);
        if (bytes == 0) break;
        text.remove_suffix(bytes);
    }
    return string_value(text);
}

Value replace(Context& context, Arguments arguments) {
    Strings strings(context, "replace", arguments);
    std::string_view text = strings.text(0);
    const std::string_view from = strings.text(1);
    const std::string_view to = strings.text(2);
    std::int64_t left = strings.number(3, -1);
    if (strings.has_failed()) return strings.failure();
    Builder builder(context);
    bool is_at_end = false;
    // An empty text is found before every character and at the end.
    for (std::size_t at = find_text(text, from);
         left != 0 && at != std::string_view::npos && !is_at_end;
         at = find_text(text, from), --left) {
        context.charge(1);
        builder.add(text.substr(0, at)).add(to);
        text.remove_prefix(at + from.size());
        if (!from.empty()) continue;
        const std::size_t character = byte_of(text, 1);
        builder.add(text.substr(0, character));
        is_at_end = character == 0;
        text.remove_prefix(character);
    }
    return builder.add(text).done();
}

Value split(Context& context, Arguments arguments) {
    Strings strings(context, "split", arguments);
    std::string_view text = strings.text(0);
    const std::string_view separator = strings.text(1);
    std::int64_t left = strings.number(2, -1);
    if (strings.has_failed()) return strings.failure();
    Parts parts(context);
    if (left == 0 || (separator.empty() && text.empty())) return parts.done();
    while (left != 1) {
        const std::size_t at = separator.empty() ? byte_of(text, 1) : find_text(text, separator);
        if (at == std::string_view::npos || (separator.empty() && at == text.size())) break;
        parts.add(text.substr(0, at));
        text.remove_prefix(at + separator.size());
        if (left > 0) --left;
    }
    parts.add(text);
    return parts.done();
}

Value join(Context& context, Arguments arguments) {
    const Value& list = arguments[0];
    if (!list.is_list()) {
        return context.fail("join() is called on a list, but this is {}.", a_type(list));
    }
    Strings strings(context, "join", arguments);
    const std::string_view separator = arguments.size() == 2 ? strings.text(1) : std::string_view();
    if (strings.has_failed()) return strings.failure();
    Builder builder(context);
    for (std::size_t i = 0; i < list_size(list); ++i) {
        const Value item = list_at(list, i);
        if (!item.is(Kind::String)) {
            return context.fail(
                "join() needs a list of strings, but element {} is {}.", i, a_type(item)
            );
        }
        context.charge(1);
        if (i > 0) builder.add(separator);
        builder.add(item.string());
    }
    return builder.done();
}

}  // namespace ebb::expression
