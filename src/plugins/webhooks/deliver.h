#pragma once

#include <functional>
#include <optional>
#include <string>

#include <ebb/clock.h>
#include <ebb/handler.h>
#include <ebb/label.h>

#include "handlers/mail_client.h"
#include "store/admin_store.h"
#include "store/store.h"
#include "support/secret_box.h"

namespace ebb::webhooks {

struct DeliveryOptions {
    /// Also delivers to loopback, private and link-local addresses. Otherwise a subscription could
    /// make this process call the services of its own network.
    bool allows_private = false;
    /// Which of those addresses it delivers to nevertheless; null = none.
    std::function<bool(const std::string& address)> may_reach{};
    std::string user_agent = "ebb";
    /// The URL of the server for links, without a slash at its end; empty = no links.
    std::string site{};
    /// Mail needs a server and the address of its sender; none = no mail is sent.
    std::optional<MailServer> mail{};
    std::string mail_from{};
    /// Where the pauses between mails about one cause are kept; null = in this process. It must
    /// outlive the registry.
    AdminStore* admin = nullptr;
    /// Opens sealed secrets; null = there are none. It must outlive the registry.
    const SecretBox* box = nullptr;
    /// Of an instance; null or none = no labels are sent.
    std::function<Labels(const InstanceId&)> labels{};
    /// A URL by which the person `by` decides at a node of an instance without a login; empty if no
    /// decision is awaited there. `event`: when it was awaited. Null = there are no such links.
    std::function<std::string(
        const InstanceId&, const std::string& node, const std::string& by, TimePoint event
    )>
        decision_link{};
    /// What of a payload of a version of a workflow may be sent; null or an empty result = nothing.
    std::function<Payload(const Payload&, const std::string& workflow, int version)> shown{};
};

/// Adds the handler `ebb:deliver`, which delivers an event to the endpoint of its subscription. The
/// store and the clock must outlive the registry.
void add_deliver_handler(
    HandlerRegistry& registry, Store& store, const Clock& clock, const DeliveryOptions& options
);

}  // namespace ebb::webhooks
