#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <ebb/error.h>
#include <ebb/json.h>

namespace ebb::detail {

namespace {

template <typename JsonType>
std::string write(const JsonType& json) {
    try {
        return json.dump();
    } catch (const nlohmann::json::exception& error) {
        throw Error(
            ErrorCode::InvalidPayload,
            fmt::format("The value cannot be written as JSON: {}.", error.what())
        );
    }
}

}  // namespace

std::string write_json(const nlohmann::json& json) {
    return write(json);
}

std::string write_json(const nlohmann::ordered_json& json) {
    return write(json);
}

std::string write_string(std::string_view text) {
    return write(Json(text));
}

void read_json(const std::string& text, Json& json) {
    if (text.empty()) {
        constexpr const char* kWhy = "it is empty (a step that did not complete has no output)";
        throw Json::parse_error::create(101, std::size_t{0}, kWhy, nullptr);
    }
    json = Json::parse(text);
}

void throw_unreadable(const char* why) {
    throw Error(
        ErrorCode::InvalidPayload,
        fmt::format("The payload does not fit the type that it is read as: {}.", why)
    );
}

}  // namespace ebb::detail
