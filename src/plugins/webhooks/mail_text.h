#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <ebb/time.h>
#include <ebb/triage.h>

#include "plugins/webhooks/message.h"

// What a mail about an event says. Pure. Nothing of an event can become a header of its own, a
// recipient, or HTML.

namespace ebb::webhooks {

struct MailAddresses {
    std::string from;
    std::vector<std::string> to;
};

/// The dead letters that a mail about one of them reports.
struct Digest {
    static constexpr std::size_t kShownMax = 20;

    std::size_t count = 1;
    bool has_more = false;                ///< there are more than `count`
    std::vector<FailedInstance> shown{};  ///< the newest
};

/// Where the links of a mail lead.
struct MailLinks {
    std::string site{};      ///< the URL of the server; empty = there are no links
    std::string decision{};  ///< by which the recipient decides; empty = none
};

/// A whole message (RFC 5322): text and HTML.
std::string make_mail(
    const MailAddresses& addresses,
    const Event& event,
    const Digest& digest,
    const MailLinks& links,
    TimePoint now
);

}  // namespace ebb::webhooks
