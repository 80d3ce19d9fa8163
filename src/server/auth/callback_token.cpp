#include "server/auth/callback_token.h"

#include <nlohmann/json.hpp>

namespace ebb::server {

namespace {

using nlohmann::json;

constexpr std::string_view kPurpose = "callback";

}  // namespace

std::string sign_callback(const Signer& signer, const CallbackToken& token) {
    const json text = {
        token.instance.to_string(),
        token.token,
        token.visit,
        token.role,
        token.by,
        token.expires_at.time_since_epoch().count()
    };
    return signer.sign(kPurpose, text.dump());
}

std::optional<CallbackToken> read_callback(const Signer& signer, std::string_view text) {
    const auto plain = signer.verify(kPurpose, text);
    if (!plain) return std::nullopt;
    const json parts = json::parse(*plain);
    const auto instance = InstanceId::parse(parts.at(0).get<std::string>());
    if (!instance) return std::nullopt;
    return CallbackToken{
        .instance = *instance,
        .token = parts.at(1).get<TokenId>(),
        .visit = parts.at(2).get<Visit>(),
        .role = parts.at(3).get<std::string>(),
        .by = parts.at(4).get<std::string>(),
        .expires_at = TimePoint(Duration(parts.at(5).get<Duration::rep>())),
    };
}

}  // namespace ebb::server
