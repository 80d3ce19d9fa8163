#pragma once

#include <ebb/engine.h>

#include "cli/api_object.h"
#include "view/delayed.h"
#include "view/outline.h"

// The reverse of src/view: what a server has sent, as the values from which it was made.

namespace ebb::cli {

InstanceSummary summary_of(const ApiObject& json);
WaitingFor waiting_of(const ApiObject& json);
std::vector<WaitingFor> waits_of(const ApiObject& json);
StepView step_of(const ApiObject& json);
HistoryEntry event_of(const ApiObject& json);
view::Outline outline_of(const ApiObject& json);
/// Without its steps, which have pages of their own.
InstanceView instance_of(const ApiObject& json);
WorkerView worker_of(const ApiObject& json);
QueueView queue_of(const ApiObject& json);
UnservedTasks unserved_of(const ApiObject& json);
view::DelayedTasks delayed_of(const ApiObject& json);
AwaitedDecision decision_of(const ApiObject& json);
FailureGroup failure_group_of(const ApiObject& json);
FailedInstance failed_instance_of(const ApiObject& json);

}  // namespace ebb::cli
