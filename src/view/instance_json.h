#pragma once

#include <ebb/engine.h>

#include "view/payload_json.h"

// Instances, their steps, what they wait for, and their history.

namespace ebb::view {

Json summary_json(const InstanceSummary& summary);
Json labels_json(const Labels& labels);
Json step_json(const StepView& step);
Json waiting_json(const WaitingFor& wait);
/// The summary with payloads, steps and `waiting_for`.
Json instance_json(const InstanceView& view);
Json event_json(const HistoryEntry& entry);
Json trace_json(const TraceEntry& entry);

}  // namespace ebb::view
