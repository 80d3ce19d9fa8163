#include "cli/api_object.h"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include <ebb/error.h>

#include "support/clock.h"
#include "support/json_reader.h"

namespace ebb::cli {

namespace {

/// Deeper than a payload may be nested by itself.
constexpr int kDepthMax = 72;

/// What reads a member throws JsonSyntaxError if it is of another kind.
template <typename Read>
auto reading(std::string_view what, Read read) {
    try {
        return read();
    } catch (const JsonSyntaxError& error) {
        throw Error(
            ErrorCode::StoreError,
            fmt::format("The server's answer cannot be read: {}: {}.", what, error.what())
        );
    }
}

}  // namespace

ApiObject::ApiObject(std::string_view json) {
    reading("the document", [&] {
        JsonReader reader(json, kDepthMax);
        reader.object([&](std::string_view key) {
            std::string name(key);
            members_.emplace_back(std::move(name), reader.raw());
        });
        reader.end();
    });
}

std::string_view ApiObject::raw(std::string_view name) const {
    const auto found = std::find_if(members_.begin(), members_.end(), [&](const auto& member) {
        return member.first == name;
    });
    if (found == members_.end() || found->second == "null") return {};
    return found->second;
}

bool ApiObject::has(std::string_view name) const {
    return !raw(name).empty();
}

std::string ApiObject::text(std::string_view name) const {
    const std::string_view json = raw(name);
    if (json.empty()) return {};
    return reading(name, [&] { return JsonReader(json).string(); });
}

std::int64_t ApiObject::integer(std::string_view name) const {
    const std::string_view json = raw(name);
    if (json.empty()) return 0;
    return reading(name, [&] { return JsonReader(json).integer(); });
}

std::optional<int> ApiObject::number(std::string_view name) const {
    if (!has(name)) return std::nullopt;
    const std::int64_t value = integer(name);
    using Limits = std::numeric_limits<int>;
    if (value < Limits::min() || value > Limits::max()) return std::nullopt;
    return static_cast<int>(value);
}

bool ApiObject::boolean(std::string_view name) const {
    const std::string_view json = raw(name);
    return !json.empty() && reading(name, [&] { return JsonReader(json).boolean(); });
}

TimePoint ApiObject::time(std::string_view name, TimePoint absent) const {
    const std::string written = text(name);
    if (written.empty()) return absent;
    if (const auto time = parse_time(written)) return *time;
    throw Error(
        ErrorCode::StoreError,
        fmt::format("The server's answer cannot be read: {} is not a time.", name)
    );
}

Payload ApiObject::payload(std::string_view name) const {
    return Payload(std::string(raw(name)));
}

std::vector<std::string> ApiObject::texts(std::string_view name) const {
    std::vector<std::string> texts;
    const std::string_view json = raw(name);
    if (json.empty()) return texts;
    reading(name, [&] {
        JsonReader reader(json);
        reader.array([&] { texts.push_back(reader.string()); });
    });
    return texts;
}

std::optional<ApiObject> ApiObject::object(std::string_view name) const {
    const std::string_view json = raw(name);
    if (json.empty()) return std::nullopt;
    return ApiObject(json);
}

std::vector<ApiObject> ApiObject::objects(std::string_view name) const {
    std::vector<ApiObject> objects;
    const std::string_view json = raw(name);
    if (json.empty()) return objects;
    reading(name, [&] {
        JsonReader reader(json, kDepthMax);
        reader.array([&] { objects.emplace_back(reader.raw()); });
    });
    return objects;
}

std::vector<std::pair<std::string, std::int64_t>> ApiObject::integers() const {
    std::vector<std::pair<std::string, std::int64_t>> all;
    for (const auto& [name, json] : members_) all.emplace_back(name, integer(name));
    return all;
}

}  // namespace ebb::cli
