#include "view/payload_json.h"

#include <algorithm>

#include <fmt/format.h>

#include "support/clock.h"
#include "support/json_reader.h"
#include "support/uuid.h"

namespace ebb::view {

namespace {

/// A decimal number with at most this many digits is the same number after it has been a double.
constexpr std::ptrdiff_t kDoubleDigits = 15;

/// No text of a user contains the mark: it has 64 random bits, made for this process.
const std::string& number_mark() {
    static const std::string mark = fmt::format("number-{:016x}:", random_bits());
    return mark;
}

bool is_whole(const Json& number) {
    return number.is_number_integer() || number.is_number_unsigned();
}

Json scalar(std::string_view text) {
    Json value = Json::parse(text);
    if (!value.is_number() || is_whole(value)) return value;
    const auto digits =
        std::count_if(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
    return digits <= kDoubleDigits ? value : Json(fmt::format("{}{};", number_mark(), text));
}

// The depth is bounded by that of the reader.
// NOLINTNEXTLINE(misc-no-recursion)
Json value_of(JsonReader& reader) {
    const char first = reader.peek();
    if (first == '{') {
        Json object = Json::object();
        reader.object([&](std::string_view key) {
            std::string name(key);
            object[name] = value_of(reader);
        });
        return object;
    }
    if (first != '[') return scalar(reader.raw());
    Json array = Json::array();
    reader.array([&] { array.push_back(value_of(reader)); });
    return array;
}

}  // namespace

Json payload_json(const Payload& payload) {
    if (payload.empty()) return nullptr;
    try {
        JsonReader reader(payload);
        Json json = value_of(reader);
        reader.end();
        return json;
    } catch (const JsonSyntaxError&) {
        return payload;
    } catch (const Json::exception&) {
        return payload;
    }
}

std::string json_text(const Json& document, int indent) {
    return with_all_digits(document.dump(indent, ' ', false, Json::error_handler_t::replace));
}

std::string with_all_digits(std::string text) {
    const std::string& mark = number_mark();
    std::size_t found = text.find(mark);
    if (found == std::string::npos) return text;
    std::string whole;
    std::size_t at = 0;
    for (; found != std::string::npos; found = text.find(mark, at)) {
        const bool is_quoted = found > at && text[found - 1] == '"';
        const std::size_t number = found + mark.size();
        const std::size_t end = text.find(';', number);
        whole.append(text, at, found - at - (is_quoted ? 1 : 0));
        whole.append(text, number, end - number);
        at = end + (is_quoted ? 2 : 1);
    }
    return whole.append(text, at);
}

Json time_json(TimePoint time) {
    if (time == TimePoint{} || time == kNever) return nullptr;
    return format_time(time);
}

Json text_json(const std::string& text) {
    return text.empty() ? Json(nullptr) : Json(text);
}

Json number_json(const std::optional<int>& number) {
    return number ? Json(*number) : Json(nullptr);
}

}  // namespace ebb::view
