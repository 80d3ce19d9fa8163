#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include <ebb/stateless.h>

#include "core/kernel/decide.h"
#include "stateless/record.h"

namespace ebb::stateless {

/// A workflow that an engine knows.
struct Workflow {
    std::shared_ptr<const Program> program;
    std::string checksum;
};

/// What a snapshot is made of.
struct Snapshot::Data {
    std::shared_ptr<const Workflow> workflow;
    std::string workflow_id;
    InstanceIdentity identity;
    InstanceState state;
    Record record;
    std::int64_t version = 0;
    TimePoint last_started_at{};
    Duration total_execution_time{0};
    Payload metadata = "{}";

    const Program& program() const { return *workflow->program; }

    const Definition& definition() const { return workflow->program->definition(); }
};

/// The UUID of an instance that the application has named: the name itself if it is a UUID, else a
/// UUID of version 8 made from the name alone.
InstanceId instance_id_of(std::string_view workflow_id);

InstanceSummary summary_of(const Snapshot::Data& data, TimePoint now);

}  // namespace ebb::stateless
