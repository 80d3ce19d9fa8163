#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <vector>

#include <nlohmann/json_fwd.hpp>

// How values become JSON and back without a JSON library in an application's translation units: the
// library parses and writes, and a type only names its members (EBB_FIELDS in <ebb/fields.h>).

namespace ebb {

class Payload;
class ValueReader;
class ValueWriter;

namespace detail {

/// A type with functions ebb_read and ebb_write in its namespace, as EBB_FIELDS and EBB_ENUM write.
template <typename T>
concept ReadsItself = requires(const ValueReader& json, T& value) { ebb_read(json, value); };
template <typename T>
concept WritesItself = requires(ValueWriter& json, const T& value) { ebb_write(json, value); };

/// The types that Ebb converts without a JSON library: whether it does never depends on what a
/// translation unit includes.
template <typename T>
inline constexpr bool kIsPlain =
    std::is_arithmetic_v<T> || std::is_same_v<T, std::string> || std::is_same_v<T, Payload> ||
    std::is_same_v<T, nlohmann::json> || std::is_same_v<T, nlohmann::ordered_json>;

/// What a container of the standard library holds; void: Ebb does not convert it as a container.
template <typename T>
struct ElementOf {
    using Type = void;
};

template <typename T>
struct Holds {
    using Type = T;
};

template <typename T>
struct ElementOf<std::optional<T>> : Holds<T> {};

template <typename T, typename A>
struct ElementOf<std::vector<T, A>> : Holds<T> {};

template <typename T, std::size_t N>
struct ElementOf<std::array<T, N>> : Holds<T> {};

template <typename T, typename C, typename A>
struct ElementOf<std::set<T, C, A>> : Holds<T> {};

template <typename T, typename C, typename A>
struct ElementOf<std::map<std::string, T, C, A>> : Holds<T> {};

template <typename T, typename H, typename E, typename A>
struct ElementOf<std::unordered_map<std::string, T, H, E, A>> : Holds<T> {};

template <typename T>
concept Container = !std::is_void_v<typename ElementOf<T>::Type>;

template <typename T>
concept NativelyRead = kIsPlain<T> || ReadsItself<T> || Container<T>;
template <typename T>
concept NativelyWritten = kIsPlain<T> || WritesItself<T> || Container<T>;

/// The type at the core of containers of containers.
template <typename T>
struct CoreOf {
    using Type = T;
};

template <Container T>
struct CoreOf<T> : CoreOf<typename ElementOf<T>::Type> {};

template <typename T>
using Core = typename CoreOf<T>::Type;

template <typename T>
struct IsOptional : std::false_type {};

template <typename T>
struct IsOptional<std::optional<T>> : std::true_type {};

template <typename T>
void read_native(const ValueReader& json, T& value);
template <typename T>
void write_native(ValueWriter& json, const T& value);

/// Of <ebb/json.h>: reads and writes a member whose type only nlohmann/json converts.
template <typename T>
void read_foreign(const ValueReader& json, T& value);
template <typename T>
void write_foreign(ValueWriter& json, const T& value);

}  // namespace detail

/// A place in a JSON document that is being read. It lives as long as the call that got it. What
/// does not fit throws Error with InvalidPayload, which names the place as a JSON pointer and says
/// what must be there; inside a handler, this is the permanent failure `invalid_input`.
class ValueReader {
 public:
    /// Reads the whole value at this place.
    template <typename T>
    void read(T& value) const {
        if constexpr (detail::NativelyRead<T>) {
            detail::read_native(*this, value);
        } else {
            detail::read_foreign(*this, value);
        }
    }

    /// Reads the object's member of this name, which must be there unless it is a std::optional.
    template <typename T>
    void member(const char* name, T& value) const {
        const ValueReader found = find(name);
        if (found.is_missing() && !detail::IsOptional<T>::value) found.throw_missing();
        found.read_unless_missing(value);
    }

    /// Reads the object's member of this name; without such a member the value keeps what it is.
    template <typename T>
    void member_or_keep(const char* name, T& value) const {
        find(name).read_unless_missing(value);
    }

    bool is_missing() const { return json_ == nullptr; }

    bool is_null() const;
    bool boolean() const;
    std::int64_t integer(std::int64_t min, std::int64_t max) const;
    std::uint64_t natural(std::uint64_t max) const;
    double number() const;
    std::string string() const;

    /// The index of the string at this place in `names`.
    std::size_t one_of(const char* const* names, std::size_t count) const;

    /// How many elements the array at this place has.
    std::size_t size() const;
    ValueReader element(std::size_t index) const;

    /// Calls `visit` for each member of the object at this place.
    void each_member(
        void (*visit)(void* target, const std::string& name, const ValueReader& json), void* target
    ) const;

    /// The value itself, and as compact JSON text.
    const nlohmann::json& json() const;
    void copy(nlohmann::ordered_json& json) const;
    std::string text() const;

    /// Throws: the place and `rule` ("must be a date").
    [[noreturn]] void refuse(std::string_view rule) const;

    explicit ValueReader(const nlohmann::json& document) : json_(&document) {}

 private:
    ValueReader(const nlohmann::json* json, const ValueReader& parent, const char* name)
        : json_(json), parent_(&parent), name_(name) {}

    ValueReader(const nlohmann::json* json, const ValueReader& parent, std::size_t index)
        : json_(json), parent_(&parent), index_(index) {}

    template <typename T>
    void read_unless_missing(T& value) const {
        if (!is_missing()) read(value);
    }

    ValueReader find(const char* name) const;
    [[noreturn]] void throw_missing() const;
    std::string pointer() const;
    std::string_view kind() const;

    const nlohmann::json* json_ = nullptr;
    const ValueReader* parent_ = nullptr;
    const char* name_ = nullptr;
    std::size_t index_ = 0;
};

/// A place in a JSON document that is being written. It lives as long as the call that got it.
class ValueWriter {
 public:
    /// Writes the whole value at this place.
    template <typename T>
    void write(const T& value) {
        if constexpr (detail::NativelyWritten<T>) {
            detail::write_native(*this, value);
        } else {
            detail::write_foreign(*this, value);
        }
    }

    /// Writes a member of an object.
    template <typename T>
    void member(const char* name, const T& value) {
        ValueWriter place = member_named(name);
        place.write(value);
    }

    void null();
    void boolean(bool value);
    void integer(std::int64_t value);
    void natural(std::uint64_t value);

    /// Throws Error with InvalidPayload if the number is not finite: JSON has no word for it.
    void number(double value);
    void string(std::string_view value);

    /// The name of an enumerator; null is an enumerator that the type does not list.
    void enumerator(const char* name);
    void begin_array();
    void begin_object();
    ValueWriter append();
    ValueWriter member_named(std::string_view name);
    void copy(const nlohmann::json& json);
    void copy(const nlohmann::ordered_json& json);

    /// Writes a JSON text as the value that it describes.
    void text(const std::string& json_text);

    explicit ValueWriter(nlohmann::json& place) : json_(&place) {}

 private:
    nlohmann::json* json_;
};

namespace detail {

template <typename T>
concept MapOfMembers = requires { typename T::mapped_type; };
template <typename T>
concept FixedSize = requires { std::tuple_size<T>::value; };

template <typename T>
T read_floating(const ValueReader& json) {
    const double number = json.number();
    if constexpr (sizeof(T) < sizeof(double)) {
        constexpr double kMax = std::numeric_limits<T>::max();
        if (number > kMax || number < -kMax) {
            json.refuse("must be a number that fits in a float, up to 3.4e38");
        }
    }
    return static_cast<T>(number);
}

template <typename T>
void read_number(const ValueReader& json, T& value) {
    if constexpr (std::is_same_v<T, bool>) {
        value = json.boolean();
    } else if constexpr (std::is_floating_point_v<T>) {
        value = read_floating<T>(json);
    } else if constexpr (std::is_signed_v<T>) {
        value = static_cast<T>(
            json.integer(std::numeric_limits<T>::min(), std::numeric_limits<T>::max())
        );
    } else {
        value = static_cast<T>(json.natural(std::numeric_limits<T>::max()));
    }
}

template <typename T>
void read_elements(const ValueReader& json, T& values) {
    const std::size_t size = json.size();
    if constexpr (FixedSize<T>) {
        if (size != values.size()) {
            json.refuse("must have " + std::to_string(values.size()) + " elements");
        }
        for (std::size_t i = 0; i < size; ++i) json.element(i).read(values[i]);
    } else {
        values.clear();
        for (std::size_t i = 0; i < size; ++i) {
            typename T::value_type value{};
            json.element(i).read(value);
            values.insert(values.end(), std::move(value));
        }
    }
}

template <typename T>
void read_native(const ValueReader& json, T& value) {
    if constexpr (ReadsItself<T>) {
        ebb_read(json, value);
    } else if constexpr (std::is_arithmetic_v<T>) {
        read_number(json, value);
    } else if constexpr (std::is_same_v<T, std::string>) {
        value = json.string();
    } else if constexpr (std::is_same_v<T, Payload>) {
        value = T(json.text());
    } else if constexpr (std::is_same_v<T, nlohmann::json>) {
        value = json.json();
    } else if constexpr (std::is_same_v<T, nlohmann::ordered_json>) {
        json.copy(value);
    } else if constexpr (IsOptional<T>::value) {
        if (json.is_null()) {
            value.reset();
        } else {
            json.read(value.emplace());
        }
    } else if constexpr (MapOfMembers<T>) {
        value.clear();
        json.each_member(
            [](void* target, const std::string& name, const ValueReader& member) {
                member.read((*static_cast<T*>(target))[name]);
            },
            &value
        );
    } else {
        read_elements(json, value);
    }
}

template <typename T>
void write_number(ValueWriter& json, T value) {
    if constexpr (std::is_same_v<T, bool>) {
        json.boolean(value);
    } else if constexpr (std::is_floating_point_v<T>) {
        json.number(static_cast<double>(value));
    } else if constexpr (std::is_signed_v<T>) {
        json.integer(value);
    } else {
        json.natural(value);
    }
}

template <typename T>
void write_native(ValueWriter& json, const T& value) {
    if constexpr (WritesItself<T>) {
        ebb_write(json, value);
    } else if constexpr (std::is_arithmetic_v<T>) {
        write_number(json, value);
    } else if constexpr (std::is_same_v<T, std::string>) {
        json.string(value);
    } else if constexpr (std::is_same_v<T, Payload>) {
        json.text(value);
    } else if constexpr (kIsPlain<T>) {
        json.copy(value);
    } else if constexpr (IsOptional<T>::value) {
        if (value) {
            json.write(*value);
        } else {
            json.null();
        }
    } else if constexpr (MapOfMembers<T>) {
        json.begin_object();
        for (const auto& [name, member] : value) json.member_named(name).write(member);
    } else {
        json.begin_array();
        for (const typename T::value_type& element : value) json.append().write(element);
    }
}

// In the library: parse, convert and report for any type through one pointer to a function.
using ReadInto = void (*)(const ValueReader& json, void* value);
using WriteFrom = void (*)(ValueWriter& json, const void* value);

/// Throws Error with InvalidPayload.
void read_text(const std::string& text, ReadInto read, void* value);
std::string write_text(WriteFrom write, const void* value);

template <typename T>
void read_into(const ValueReader& json, void* value) {
    json.read(*static_cast<T*>(value));
}

template <typename T>
void write_from(ValueWriter& json, const void* value) {
    json.write(*static_cast<const T*>(value));
}

}  // namespace detail

}  // namespace ebb
