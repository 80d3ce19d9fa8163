#include "cli/failure_text.h"

#include <nlohmann/json.hpp>

#include "cli/text.h"
#include "support/json.h"
#include "view/payload_json.h"

namespace ebb::cli {

std::string member_text(const Payload& object, const char* member) {
    const Json json = Json::parse(object, nullptr, false);
    if (!json.is_object() || !json.contains(member)) return {};
    const Json& value = json[member];
    return one_line(value.is_string() ? value.get<std::string>() : to_text(value));
}

std::string request_text(const Payload& request) {
    const std::string by = member_text(request, "by");
    const std::string reason = member_text(request, "reason");
    std::string text = by.empty() ? "" : " by " + by;
    if (!reason.empty()) text += " (" + reason + ")";
    return text;
}

std::string failure_text(const Payload& failure) {
    if (failure.empty()) return {};
    const std::string code = member_text(failure, "code");
    const std::string message = member_text(failure, "message");
    if (code.empty() && message.empty()) {
        const std::string to = member_text(failure, "to");
        return to.empty() ? one_line(failure)
                          : "taken back to the write " + to + request_text(failure);
    }
    if (message.empty()) return code + request_text(failure);
    return code.empty() ? message : code + ": " + message;
}

std::string cause_text(const Payload& failure) {
    const std::string step = member_text(failure, "step");
    return (step.empty() ? "" : step + ": ") + failure_text(failure);
}

std::string cause_name(const Payload& failure) {
    const std::string step = member_text(failure, "step");
    const std::string code = member_text(failure, "code");
    return step.empty() || code.empty() ? step + code : step + ": " + code;
}

std::string payload_text(const Payload& payload, int columns, std::string_view ellipsis) {
    // Programs often print JSON in many lines. What is too long to be shown is not worth parsing.
    constexpr std::size_t kParsedMax = std::size_t{64} << 10;
    std::string text = payload.substr(0, kParsedMax);
    if (!payload.empty() && payload.size() <= kParsedMax) {
        const view::Json json = view::payload_json(payload);
        if (!json.is_string() || payload.front() == '"') text = view::json_text(json);
    }
    const std::string line = one_line(text);
    return columns > 0 ? truncate(line, columns, ellipsis) : line;
}

}  // namespace ebb::cli
