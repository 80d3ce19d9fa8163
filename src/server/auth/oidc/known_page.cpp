#include "server/auth/oidc/known_page.h"

#include <utility>

#include <nlohmann/json.hpp>

#include "server/auth/oidc/oidc_error.h"

namespace ebb::server::oidc {

/// Empty: the caller asks, and says `answered` afterwards.
std::optional<nlohmann::json> KnownPage::without_asking(Patience patience, Freshness freshness) {
    Lock lock(mutex_);
    while (true) {
        const SteadyPoint now = clock_.steady_now();
        const bool is_failing = failed_at_ && now - *failed_at_ < kAskAgainAfter;
        if (freshness == Freshness::Known && known_) {
            // An old answer is better than none.
            if (now - read_at_ < kKnownFor || is_failing || is_asking_) return known_;
        }
        if (patience == Patience::Refuses && (is_asking_ || is_failing)) {
            throw OidcError(
                OidcError::Kind::Unavailable, "The login provider does not answer at the moment."
            );
        }
        if (!is_asking_) break;
        changed_.wait(lock);
        // What the other request got is new enough.
        freshness = Freshness::Known;
    }
    is_asking_ = true;
    return std::nullopt;
}

void KnownPage::answered(std::optional<nlohmann::json> answer) {
    const Lock lock(mutex_);
    is_asking_ = false;
    changed_.notify_all();
    if (!answer) {
        failed_at_ = clock_.steady_now();
        return;
    }
    failed_at_.reset();
    read_at_ = clock_.steady_now();
    known_ = std::move(answer);
}

nlohmann::json KnownPage::get(const Ask& ask, Patience patience, Freshness freshness) {
    if (auto known = without_asking(patience, freshness)) return std::move(*known);
    try {
        nlohmann::json answer = ask();
        answered(answer);
        return answer;
    } catch (const std::exception&) {
        answered(std::nullopt);
        const Lock lock(mutex_);
        if (freshness == Freshness::Known && known_) return *known_;
        throw;
    }
}

}  // namespace ebb::server::oidc
