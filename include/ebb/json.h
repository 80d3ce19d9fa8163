#pragma once

#include <concepts>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include <nlohmann/json_fwd.hpp>

#include <ebb/convert.h>

namespace ebb {

/// A parsed JSON value. Include <nlohmann/json.hpp> where you use its members.
using Json = nlohmann::json;

class Payload;

namespace detail {

template <typename T>
concept JsonObject = std::same_as<T, nlohmann::json> || std::same_as<T, nlohmann::ordered_json>;

/// Json, but looked at only where a template is used: by then <nlohmann/json.hpp> is included.
template <typename>
struct JsonFor {
    using Type = Json;
};

template <typename T>
using JsonOf = typename JsonFor<T>::Type;

template <typename T>
concept Complete = requires { sizeof(T); };

/// A text that could be either a value or JSON.
template <typename T>
concept Text = std::convertible_to<const T&, std::string_view> && !std::same_as<T, Payload> &&
               !std::derived_from<T, Payload>;

template <typename T>
concept Readable = requires(const JsonOf<T>& json, T& value) {
    nlohmann::adl_serializer<T>::from_json(json, value);
} || requires(const JsonOf<T>& json) {
    { nlohmann::adl_serializer<T>::from_json(json) } -> std::convertible_to<T>;
};

template <typename T>
concept Writable = requires(JsonOf<T>& json, const T& value) {
    nlohmann::adl_serializer<T>::to_json(json, value);
};

std::string write_json(const nlohmann::json& json);
std::string write_json(const nlohmann::ordered_json& json);
std::string write_string(std::string_view text);

/// What nlohmann/json's exceptions say.
[[noreturn]] void refuse_foreign(const ValueReader& json, const char* why);

/// A type that only nlohmann/json converts. Throws Error with InvalidPayload.
template <typename T>
void read_foreign(const ValueReader& json, T& value) {
    static_assert(
        Complete<JsonOf<T>> || !std::is_class_v<T>,
        "Ebb cannot read this type from JSON: give it EBB_FIELDS(Type, members...) or "
        "EBB_ENUM(Type, names...), or include <nlohmann/json.hpp> if it has a from_json function."
    );
    static_assert(
        !Complete<JsonOf<T>> || Readable<T>,
        "Ebb cannot read this type from JSON: give it EBB_FIELDS(Type, members...), EBB_ENUM(Type, "
        "names...), or a from_json function next to the type."
    );
    if constexpr (Readable<T>) {
        const JsonOf<T>& source = json.json();
        try {
            value = source.template get<T>();
        } catch (const typename JsonOf<T>::exception& error) {
            refuse_foreign(json, error.what());
        }
    }
}

template <typename T>
void write_foreign(ValueWriter& json, const T& value) {
    static_assert(
        Complete<JsonOf<T>>,
        "Ebb cannot write this type as JSON: give it EBB_FIELDS(Type, members...) or "
        "EBB_ENUM(Type, names...), or include <nlohmann/json.hpp> if it has a to_json function."
    );
    static_assert(
        Writable<T>,
        "Ebb cannot write this type as JSON: give it EBB_FIELDS(Type, members...), EBB_ENUM(Type, "
        "names...), or a to_json function next to the type."
    );
    if constexpr (Writable<T>) json.copy(JsonOf<T>(value));
}

template <typename T>
std::string write_value(const T& value) {
    if constexpr (JsonObject<T>) {
        return write_json(value);
    } else if constexpr (Text<T>) {
        return write_string(value);
    } else {
        return write_text(&write_from<T>, &value);
    }
}

}  // namespace detail

/// A JSON document as text. The engine stores and forwards it, and parses it only if an expression
/// or a typed handler needs it. Make one from your own value with `of`, or from JSON text with
/// `text`; read it with `as`. Empty = there is none.
///
/// A payload is its text, so everything that reads a std::string reads a payload. Functions that
/// take values (Engine::start, Engine::signal) do not accept a std::string in its place.
class Payload : public std::string {
 public:
    Payload() = default;
    using std::string::string;

    // NOLINTBEGIN(google-explicit-constructor): what is JSON may be passed as a payload.

    Payload(const std::string& json_text) : std::string(json_text) {}

    Payload(std::string&& json_text) : std::string(std::move(json_text)) {}

    template <detail::JsonObject T>
    Payload(const T& json) : std::string(detail::write_json(json)) {}

    // NOLINTEND(google-explicit-constructor)

    /// A text that is already a JSON document. It is checked when it is used.
    static Payload text(std::string json_text) { return Payload(std::move(json_text)); }

    /// A value of any type that <ebb/fields.h> or nlohmann/json can write; a std::string becomes a
    /// JSON string, an empty std::optional becomes null.
    template <typename T>
    static Payload of(const T& value) {
        if constexpr (std::derived_from<T, Payload>) {
            return value;
        } else {
            return text(detail::write_value(value));
        }
    }

    /// The value that it holds. Throws Error with InvalidPayload if the text is not JSON or does
    /// not fit the type.
    template <typename T>
    T as() const {
        if constexpr (std::same_as<T, Payload>) {
            return *this;
        } else {
            T value{};
            detail::read_text(*this, &detail::read_into<T>, &value);
            return value;
        }
    }
};

/// A Json never becomes a payload by accident: write Payload::of(json).
template <detail::JsonObject T>
void from_json(const T& json, Payload& payload) = delete;

namespace detail {

/// The argument of a function that takes a value.
template <typename T>
Payload payload_of(const T& value) {
    static_assert(
        !Text<T>,
        "A string can be a value or JSON text: pass ebb::Payload::of(text) for a JSON string, or "
        "ebb::Payload::text(json) for JSON text."
    );
    if constexpr (Text<T>) {
        return {};
    } else {
        return Payload::of(value);
    }
}

}  // namespace detail

/// A value that is passed to the engine in place of a payload.
template <typename T>
concept PayloadValue = !std::derived_from<T, Payload>;

}  // namespace ebb
