#pragma once

#include <functional>
#include <optional>

#include <nlohmann/json.hpp>

#include <ebb/clock.h>

#include "support/sync.h"

namespace ebb::server::oidc {

/// Whether a request may wait for what another one has asked the provider.
enum class Patience { Waits, Refuses };

/// How new an answer must be.
enum class Freshness {
    Known,  ///< not older than kKnownFor, if the provider answers
    New,    ///< asked for now
};

/// How long the description and the keys of the provider are used without asking again.
inline constexpr Duration kKnownFor = std::chrono::hours(1);
/// How soon a provider that has not answered is asked again, by requests that must not wait.
inline constexpr Duration kAskAgainAfter = std::chrono::seconds(5);

/// A JSON document of the provider that is read again now and then, by one request at a time. What
/// is known stays in use while the provider does not answer. Thread-safe.
class KnownPage {
 public:
    /// Reads the document; throws OidcError.
    using Ask = std::function<nlohmann::json()>;

    explicit KnownPage(const Clock& clock) : clock_(clock) {}

    /// Throws what `ask` throws, and OidcError with Unavailable for a request that must not wait.
    nlohmann::json get(const Ask& ask, Patience patience, Freshness freshness);

 private:
    std::optional<nlohmann::json> without_asking(Patience patience, Freshness freshness);
    void answered(std::optional<nlohmann::json> answer);

    const Clock& clock_;
    Mutex mutex_;
    CondVar changed_;
    std::optional<nlohmann::json> known_ EBB_GUARDED_BY(mutex_);
    SteadyPoint read_at_ EBB_GUARDED_BY(mutex_){};
    std::optional<SteadyPoint> failed_at_ EBB_GUARDED_BY(mutex_);
    bool is_asking_ EBB_GUARDED_BY(mutex_) = false;
};

}  // namespace ebb::server::oidc
