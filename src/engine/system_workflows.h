#pragma once

#include <string>
#include <string_view>

#include <ebb/json.h>

#include "core/kernel/program.h"
#include "store/store.h"

// Ebb's own workflows. Their names begin with `ebb:`, which no other workflow and handler may have.

namespace ebb::engine {

/// Delivers one notice to one subscription: a step of the handler `ebb:deliver`.
inline constexpr std::string_view kWebhookWorkflow = "ebb:webhook";
inline constexpr std::string_view kDeliverHandler = "ebb:deliver";
inline constexpr std::string_view kWebhookQueue = "ebb.webhooks";

/// How many deliveries to one subscription run at the same time, unless an operator has set
/// another limit: an endpoint that does not answer holds up no other. A claim and a commit of a few
/// cost nearly as much as of many.
inline constexpr int kDeliveriesPerSubscription = 64;
/// How long deliveries are kept, unless an operator has set another retention.
inline constexpr Duration kDeliveriesKept = std::chrono::hours(7 * 24);

/// The definition of kWebhookWorkflow as it is stored.
WorkflowRow webhook_workflow(TimePoint now);

/// How often one event can be delivered again.
inline constexpr int kRedeliveriesMax = 99;

/// `SUBSCRIPTION/INSTANCE/SEQ`: the start key of its delivery; with `.N` behind it when the event
/// is delivered again.
std::string delivery_key(const OutboxRow& row);
/// What stands for the event `seq` in the outbox when it is delivered again: a negative number.
Seq redelivery_seq(Seq seq, int nth);
/// The row that led to a delivery. Throws CorruptState if `key` and `input` are not those of one.
OutboxRow row_of_delivery(const std::string& key, const Payload& input);
/// `{subscription, id, type, timestamp, data}`. The id is the same for every attempt, every
/// process and every subscription.
Payload delivery_input(const OutboxRow& row);

/// Throws InvalidArgument for a workflow that is named as Ebb's own ones or calls one of their
/// handlers.
void refuse_reserved_names(const Program& program);
/// Throws InvalidArgument: only Ebb itself starts it.
void refuse_system_workflow(std::string_view workflow);

}  // namespace ebb::engine
