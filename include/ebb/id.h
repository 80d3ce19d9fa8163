#pragma once

#include <array>
#include <bit>
#include <compare>
#include <cstdint>
#include <functional>
#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>

#include <ebb/json.h>

namespace ebb {

/// The identity of one instance: a UUID of version 7 (RFC 9562), so ids sort by the time of their
/// creation. A value type; its text form is the usual 36 lower-case characters.
struct InstanceId {
    std::array<std::uint8_t, 16> bytes{};

    /// Parses the text form, upper or lower case. Empty when `text` is not a UUID.
    static std::optional<InstanceId> parse(std::string_view text);

    std::string to_string() const;

    auto operator<=>(const InstanceId&) const = default;

    /// Compared by words: ids are looked up all the time.
    bool operator==(const InstanceId& other) const {
        using Words = std::array<std::uint64_t, 2>;
        return std::bit_cast<Words>(bytes) == std::bit_cast<Words>(other.bytes);
    }
};

inline std::string to_string(const InstanceId& id) {
    return id.to_string();
}

/// The text form. For fmt and std::format include <ebb/format.h>.
std::ostream& operator<<(std::ostream& out, const InstanceId& id);

[[noreturn]] void throw_invalid_id(std::string_view text);

/// As a JSON string, so that an id can be a member of your own types (EBB_FIELDS).
void ebb_read(const ValueReader& json, InstanceId& id);
void ebb_write(ValueWriter& json, const InstanceId& id);

/// The same for types that nlohmann/json converts.
template <detail::JsonObject T>
void to_json(T& json, const InstanceId& id) {
    json = id.to_string();
}

/// Throws Error with InvalidArgument if the string is not an id.
template <detail::JsonObject T>
void from_json(const T& json, InstanceId& id) {
    const auto text = json.template get<std::string>();
    const auto parsed = InstanceId::parse(text);
    if (!parsed) throw_invalid_id(text);
    id = *parsed;
}

}  // namespace ebb

template <>
struct std::hash<ebb::InstanceId> {
    std::size_t operator()(const ebb::InstanceId& id) const noexcept {
        // Its second half is random.
        return std::bit_cast<std::array<std::uint64_t, 2>>(id.bytes)[1];
    }
};
