#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include <ebb/clock.h>

#include "server/auth/roles.h"
#include "store/admin_store.h"
#include "support/sync.h"

// Who may do what: API tokens, login links and sessions, all kept as hashes in the store.

namespace ebb::server {

/// Who sends a request.
struct Principal {
    enum class Kind { Token, Session, Anonymous };

    Kind kind = Kind::Anonymous;
    std::string name;  ///< `token:ci`, `user:ann`, `anonymous`
    Role role = Role::Viewer;
    std::vector<std::string> decision_roles{};  ///< empty = any
    std::vector<std::string> handlers{};  ///< patterns of what a worker may serve; empty = all
    std::vector<std::string> queues{};    ///< the same of queues
    TimePoint expires_at = kNever;
    std::string credential{};  ///< which row it comes from, to remove it

    bool may(Permission permission) const { return has_permission(role, permission); }
};

struct NewCredential {
    std::string name;  ///< of the token, or of the person
    Role role = Role::Viewer;
    std::vector<std::string> decision_roles{};
    std::vector<std::string> handlers{};  ///< of the role worker: patterns such as `mail_*`
    std::vector<std::string> queues{};
    Duration life{0};  ///< zero = no end
    std::string by{};
};

/// Thread-safe. What was found is remembered for kRemembered, so a revocation holds on every server
/// that shares the store after that time, and on this one at once.
class Access {
 public:
    static constexpr Duration kRemembered = std::chrono::seconds(5);
    static constexpr Duration kLoginLife = std::chrono::minutes(10);
    static constexpr Duration kSessionLife = std::chrono::hours(24 * 7);
    static constexpr Duration kSessionIdle = std::chrono::hours(12);
    static constexpr Duration kTokenLife = std::chrono::hours(24 * 90);

    Access(AdminStore& store, const Clock& clock) : store_(store), clock_(clock) {}

    /// The identity of a bearer token; empty if the token is not valid.
    std::optional<Principal> by_token(std::string_view token);
    /// Of a session cookie.
    std::optional<Principal> by_session(std::string_view secret);

    struct CreatedToken {
        nlohmann::ordered_json view;
        std::string token;
    };

    /// Empty: there is a token of this name.
    std::optional<CreatedToken> create_token(const NewCredential& credential);
    std::vector<nlohmann::ordered_json> tokens();
    void revoke_token(std::string_view name);

    /// The secret of a new login link.
    std::string create_login(const NewCredential& person);

    struct Login {
        std::string secret;  ///< of the session, for the cookie
        Principal principal;
    };

    /// Uses up a login link.
    std::optional<Login> log_in(std::string_view secret);
    void log_out(const Principal& principal);

 private:
    struct Remembered {
        std::optional<Principal> principal;
        TimePoint until{};
    };

    template <class Load>
    std::optional<Principal> remember(const std::string& key, Load load);
    void forget_all();

    AdminStore& store_;
    const Clock& clock_;
    Mutex mutex_;
    std::map<std::string, Remembered> remembered_ EBB_GUARDED_BY(mutex_);
};

}  // namespace ebb::server
