// Mail that is not decided as it was sent.

#include "call/mail_text.h"
#include "sim/planted.h"

namespace ebb::sim {

std::vector<PlantedBug> planted_mail_bugs() {
    PlantedBug twice{.name = "mail is decided twice"};
    twice.store.claim = [](Claim& claim) {
        if (claim.mail.empty()) return;
        Mail again = claim.mail.front();
        nlohmann::json body = nlohmann::json::parse(again.body);
        if (!body.contains("request_id")) return;
        body["request_id"] = "again";
        again.body = body.dump();
        claim.mail.push_back(std::move(again));
    };
    PlantedBug lost{.name = "a cancellation by mail is lost"};
    lost.store.claim = [](Claim& claim) {
        for (Mail& mail : claim.mail) {
            if (mail.kind != "cancel") continue;
            const Event other =
                event::SignalReceived{.name = "lost", .payload = "1", .request_id = {}};
            mail.kind = mail_kind(other);
            mail.body = encode_mail(other);
        }
    };
    return {twice, lost};
}

}  // namespace ebb::sim
