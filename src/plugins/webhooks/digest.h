#pragma once

#include <string>

#include <ebb/time.h>

#include "store/admin_store.h"

namespace ebb::webhooks {

/// Which dead letter of a group is mailed: one in kPause, which reports all that came before it.
/// The turns are rows of the store, so all servers of a database share them, and a server that dies
/// while it sends a mail sends it again.
class Digests {
 public:
    static constexpr Duration kPause = std::chrono::minutes(10);
    /// How long the commit of an event may take: until then a mail may not have seen it.
    static constexpr Duration kSlack = std::chrono::seconds(30);

    explicit Digests(AdminStore& admin) : admin_(admin) {}

    struct Turn {
        enum class Kind {
            Send,     ///< then call sent() or failed()
            Covered,  ///< a mail has reported the event
            Wait,
        };

        Kind kind = Kind::Send;
        Duration wait{0};
    };

    /// `group`: the webhook and the failure group. `delivery` identifies the caller.
    Turn take(
        const std::string& group, const std::string& delivery, TimePoint event, TimePoint now
    );
    void sent(const std::string& group, const std::string& delivery);
    /// The next one may try.
    void failed(const std::string& group, const std::string& delivery);

 private:
    AdminStore& admin_;
};

}  // namespace ebb::webhooks
