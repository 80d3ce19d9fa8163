#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include <ebb/clock.h>

#include "server/auth/grants.h"
#include "server/auth/roles.h"
#include "store/admin_store.h"
#include "support/sync.h"

// Who may do what: API tokens, login links and sessions, all kept as hashes in the store.

namespace ebb::server {

/// The label that says who has started an instance, if that principal sees only its own.
inline constexpr std::string_view kOwnerLabel = "ebb.started_by";

/// Who sends a request.
struct Principal {
    enum class Kind { Token, Session, Anonymous, Proxy, Oidc, Certificate };

    Kind kind = Kind::Anonymous;
    std::string name;            ///< `token:ci`, `user:ann`, `cert:w1.example.com`, `anonymous`
    std::string display_name{};  ///< empty = unknown
    std::vector<std::string> groups{};  ///< that its login has named
    std::vector<Grant> grants{};
    TimePoint expires_at = kNever;
    std::string credential{};  ///< which row it comes from, to remove it
    std::string key{};         ///< by which Access finds it again

    /// With some workflow, or with none.
    bool may(Permission permission) const;
    /// With every workflow, and with the server itself.
    bool may_everywhere(Permission permission) const;
    /// With all instances of the workflow.
    bool may_with(Permission permission, const std::string& workflow) const;
    /// With those instances of the workflow that it has started.
    bool may_with_own(Permission permission, const std::string& workflow) const;
    /// Whether there may be instances that it sees only because it has started them.
    bool has_own() const;
    /// The value of the label kOwnerLabel of its instances.
    std::string owner() const;
    bool may_with_queue(Permission permission, const std::string& queue) const;
    /// The roles in which it decides about a workflow; none = in any.
    std::optional<std::vector<std::string>> decision_roles(const std::string& workflow) const;
    /// The one with the most permissions.
    Role role() const;
    std::vector<Permission> permissions() const;

    bool operator==(const Principal&) const = default;
};

std::string_view to_string(Principal::Kind kind);

/// A person whom another system has logged in.
struct Person {
    std::string name;
    std::vector<std::string> groups;
    std::string display_name{};
    std::string email{};
};

/// The other end of a login.
struct Visitor {
    std::string address;
    std::string agent{};  ///< what the browser says of itself
};

struct NewCredential {
    std::string name;  ///< of the token, or of the person
    Role role = Role::Viewer;
    std::string project{kEverything};
    bool may_act_as = false;
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
    /// How exactly the last use of a session is known.
    static constexpr Duration kSeenEvery = std::chrono::minutes(5);
    static constexpr std::size_t kAgentBytesMax = 256;

    Access(AdminStore& store, const Clock& clock)
        : store_(store), clock_(clock), book_(store, clock) {}

    /// The projects and grants. Call forget() after a change.
    GrantBook& book() { return book_; }

    void forget() { forget_all(); }

    /// The same principal as it is now; empty if its credential is over.
    std::optional<Principal> current(const Principal& principal);

    /// The identity of a bearer token; empty if the token is not valid.
    std::optional<Principal> by_token(std::string_view token);
    /// Of a session cookie.
    std::optional<Principal> by_session(std::string_view secret);

    /// Of one request: the person has the grants of its name and of its groups.
    Principal by_proxy(const Person& person);
    /// The same of a token of an OpenID provider.
    Principal by_oidc(const Person& person, TimePoint expires_at);
    /// Of a client certificate with this name: it has the grants of `cert:NAME`.
    Principal by_certificate(const std::string& name, TimePoint expires_at);

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
    std::optional<Login> log_in(std::string_view secret, const Visitor& visitor);
    /// A session for a person whom an OpenID provider has logged in. `logout_url`: where the
    /// provider ends its own session.
    Login log_in(const Person& person, const Visitor& visitor, const std::string& logout_url);
    /// The logout URL of the provider that has made the session; empty = none.
    std::string log_out(const Principal& principal);

    /// The sessions that have not ended, the newest first; of one principal unless it is empty.
    std::vector<nlohmann::ordered_json> sessions(std::string_view of, const Principal& caller);
    /// Ends a session, of `of` unless that is empty. False: there is none with this id.
    bool end_session(std::string_view id, std::string_view of);

 private:
    struct Remembered {
        std::optional<Principal> principal;
        TimePoint until{};
    };

    std::optional<Principal> find(const std::string& key);
    std::optional<Principal> find_token(const std::string& hash, TimePoint now);
    std::optional<Principal> find_session(const std::string& hash, TimePoint now);
    Login open_session(nlohmann::ordered_json document, const Visitor& visitor);
    Principal with_grants(Principal principal, const nlohmann::ordered_json& document);
    void forget_all();

    AdminStore& store_;
    const Clock& clock_;
    GrantBook book_;
    Mutex mutex_;
    std::map<std::string, Remembered> remembered_ EBB_GUARDED_BY(mutex_);
};

}  // namespace ebb::server
