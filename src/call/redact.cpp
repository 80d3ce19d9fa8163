#include "call/redact.h"

#include <algorithm>
#include <utility>

#include <nlohmann/json.hpp>

#include <ebb/error.h>

#include "support/json.h"

namespace ebb {

namespace {

constexpr std::string_view kRedacted = "[redacted]";

}  // namespace

Redactor::Redactor(const Json& secrets, std::size_t bytes_min) {
    if (!secrets.is_object()) {
        throw Error(ErrorCode::InvalidPayload, "The secrets must be a JSON object.");
    }
    collect(secrets, bytes_min);
    std::sort(secrets_.begin(), secrets_.end(), [](const auto& left, const auto& right) {
        return left.size() > right.size();
    });
}

void Redactor::collect(const Json& secrets, std::size_t bytes_min) {
    for (const auto& [name, value] : secrets.items()) {
        if (value.is_object()) {
            collect(value, bytes_min);
        } else if (!value.is_string()) {
            throw Error(
                ErrorCode::InvalidPayload, "The secret \"" + name + "\" is no text; secrets are."
            );
        } else if (value.get_ref<const std::string&>().size() >= bytes_min) {
            secrets_.push_back(value.get<std::string>());
        }
    }
}

std::string Redactor::text(std::string text) const {
    for (const std::string& secret : secrets_) {
        for (std::size_t at = text.find(secret); at != std::string::npos;
             at = text.find(secret, at + kRedacted.size())) {
            text.replace(at, secret.size(), kRedacted);
        }
    }
    return text;
}

Json Redactor::clean(const Json& value) const {
    if (value.is_string()) return text(value.get<std::string>());
    if (value.is_array()) {
        Json cleaned = Json::array();
        for (const Json& part : value) cleaned.push_back(clean(part));
        return cleaned;
    }
    if (!value.is_object()) return value;
    Json cleaned = Json::object();
    for (const auto& [key, part] : value.items()) cleaned[text(key)] = clean(part);
    return cleaned;
}

bool Redactor::is_in(const Payload& payload) const {
    // An escape may hide one.
    return payload.find('\\') != std::string::npos ||
           std::any_of(secrets_.begin(), secrets_.end(), [&](const std::string& secret) {
               return payload.find(secret) != std::string::npos;
           });
}

Payload Redactor::payload(const Payload& payload) const {
    if (secrets_.empty() || !is_in(payload)) return payload;
    const Json value = Json::parse(payload, nullptr, false);
    if (value.is_discarded()) return text(payload);
    const Json cleaned = clean(value);
    // Keys keep their order where there is nothing to hide.
    return cleaned == value ? payload : Payload(to_text(cleaned));
}

}  // namespace ebb
