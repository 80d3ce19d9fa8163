#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <ebb/time.h>

#include "plugins/hooks/hook.h"

// Whether a request was signed by the one who has the secret of a hook.

namespace ebb::hooks {

/// How far the time of a signature may be from ours.
inline constexpr Duration kSignatureAge = std::chrono::minutes(5);

/// A request as a hook sees it.
struct HookRequest {
    /// The value of the first header of this name; empty if there is none.
    std::function<std::string_view(std::string_view name)> header;
    std::string_view body;
};

struct Verdict {
    std::string problem{};   ///< a whole sentence; empty = the request is genuine
    std::string delivery{};  ///< the same for each repetition of one event

    bool is_genuine() const { return problem.empty(); }
};

/// One of `secrets` must have signed. Comparing takes the same time wherever two signatures differ.
Verdict verify(
    const Hook& hook,
    const std::vector<std::string>& secrets,
    const HookRequest& request,
    TimePoint now
);

/// The header in which the signature or the token is.
std::string signature_header(const Hook& hook);

}  // namespace ebb::hooks
