#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <ebb/id.h>
#include <ebb/time.h>

#include "core/kernel/state.h"
#include "server/auth/signature.h"

namespace ebb::server {

/// What a signed link lets its holder do: answer what one visit of a node waits for. The server
/// keeps nothing of it: every server with the same key recognizes it, also after a restart.
struct CallbackToken {
    /// However late the deadline of a decision is.
    static constexpr Duration kLifeMax = std::chrono::hours(24 * 30);

    InstanceId instance;
    TokenId token = 0;
    Visit visit = 0;
    std::string role;  ///< in which its holder decides; empty = in none
    std::string by;    ///< as whom: `mail:ann@example.com`
    TimePoint expires_at{};

    bool operator==(const CallbackToken&) const = default;
};

std::string sign_callback(const Signer& signer, const CallbackToken& token);
/// Empty if the text was not signed with this key, for this purpose. It may have expired.
std::optional<CallbackToken> read_callback(const Signer& signer, std::string_view text);

}  // namespace ebb::server
