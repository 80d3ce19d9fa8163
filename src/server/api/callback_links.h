#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <ebb/id.h>
#include <ebb/time.h>

#include "core/kernel/program.h"
#include "core/kernel/state.h"
#include "server/auth/callback_token.h"
#include "store/admin_store.h"
#include "store/store.h"
#include "support/secret_box.h"
#include "support/sync.h"

namespace ebb::server {

/// What the link is about, at one revision of the instance.
struct CallbackPlace {
    InstanceRow row;
    std::shared_ptr<const Program> program;
    InstanceState state;

    const ProgramNode& node(const Token& token) const { return program->node(token.node); }
};

/// None if there is no such instance. Throws Error.
std::optional<CallbackPlace> find_callback_place(Store& store, const InstanceId& id);

/// Makes and reads the tokens of signed links. Thread-safe.
class CallbackLinks {
 public:
    /// All must outlive it. `box`: of the signing key; null = it is in clear text.
    CallbackLinks(Store& store, AdminStore& admin, const SecretBox* box)
        : store_(store), admin_(admin), box_(box) {}

    /// By whom and where something is answered.
    struct Request {
        InstanceId instance;
        std::string node;
        std::string by;     ///< `mail:ann@example.com`
        TimePoint since{};  ///< the life of the link begins here
    };

    /// A token for the decision that is awaited at the node; empty = none is. The same request has
    /// the same token while the same visit waits. Throws Error.
    std::string make(const Request& request);
    /// Throws Error.
    std::string sign(const CallbackToken& token);
    /// Empty if it does not come from a server with the same key. Throws Error.
    std::optional<CallbackToken> read(std::string_view text);

 private:
    Signer signer();

    Store& store_;
    AdminStore& admin_;
    const SecretBox* box_;
    Mutex mutex_;
    std::optional<Signer> signer_ EBB_GUARDED_BY(mutex_);
};

/// The path of a link below the base path of the server.
std::string callback_path(std::string_view token);

}  // namespace ebb::server
