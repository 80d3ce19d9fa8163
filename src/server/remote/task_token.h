#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <ebb/clock.h>
#include <ebb/id.h>

#include "core/kernel/event.h"
#include "server/auth/signature.h"
#include "store/admin_store.h"
#include "support/secret_box.h"

// The signed texts that a remote worker gets. The server keeps none of them: any server with the
// same key recognizes them, also after a restart.

namespace ebb::server {

/// What identifies one call that a remote worker was given. The same call always has the same
/// token.
struct RemoteTask {
    InstanceId instance;
    AttemptRef attempt;
    std::string worker;

    bool operator==(const RemoteTask&) const = default;
};

std::string sign_task(const Signer& signer, const RemoteTask& task);
/// Empty if the token was not signed with this key.
std::optional<RemoteTask> read_task(const Signer& signer, std::string_view token);

/// What a worker has said about itself when it opened its session.
struct RemoteSession {
    std::string worker;
    std::string nonce;      ///< differs in each session of the same worker
    std::string principal;  ///< the only one that may use the session
    std::vector<std::string> handlers;
    std::vector<std::string> queues;  ///< empty = all
    int slots = 1;
    Duration lease{};
};

std::string sign_session(const Signer& signer, const RemoteSession& session);
std::optional<RemoteSession> read_session(const Signer& signer, std::string_view text);

/// The key of all servers on one database. The first one makes it. Throws Error. `box` seals it;
/// null = it is in clear text.
Signer load_signer(AdminStore& admin, const SecretBox* box = nullptr);

}  // namespace ebb::server
