// Requests that an application leaves for an instance in a transaction of its own.

#include <utility>

#include <fmt/format.h>

#include <ebb/error.h>

#include "call/mail_text.h"
#include "engine/core.h"
#include "support/uuid.h"

namespace ebb {

void Engine::Core::send_in(
    const Transaction& transaction,
    const InstanceId& id,
    const Event& event,
    const RequestOptions& options
) {
    if (options.expected_revision) {
        throw Error(
            ErrorCode::InvalidArgument,
            "A request that waits until the transaction is committed has no `expected_revision`: "
            "the instance may change until then."
        );
    }
    const Mail mail{
        .to = id,
        .key =
            {.sender = options.request_id.empty()
                           ? make_instance_id(environment.clock, environment.now()).to_string()
                           : options.request_id},
        .kind = std::string(mail_kind(event)),
        .body = encode_mail(event),
    };
    switch (environment.store.borrow(transaction)->send(mail)) {
        case SendResult::Sent:
        case SendResult::Known:
            return;
        case SendResult::NotFound:
            throw Error(
                ErrorCode::InstanceNotFound, fmt::format("There is no instance {}.", id.to_string())
            );
        case SendResult::Ended:
            throw Error(
                ErrorCode::InvalidState,
                fmt::format(
                    "The instance {} has ended; nothing can be sent to it any more.", id.to_string()
                )
            );
    }
}

}  // namespace ebb
