#include <charconv>
#include <utility>

#include <nlohmann/json.hpp>

#include <ebb/error.h>
#include <ebb/stateless.h>

#include "stateless/codec.h"
#include "stateless/view.h"
#include "stateless/work.h"
#include "support/json.h"
#include "support/sha256.h"

namespace ebb::stateless {

std::string_view to_string(SnapshotStatus status) {
    switch (status) {
        case SnapshotStatus::Active:
            return "active";
        case SnapshotStatus::Paused:
            return "paused";
        case SnapshotStatus::Error:
            return "error";
        case SnapshotStatus::Completed:
            return "completed";
        case SnapshotStatus::Failed:
            return "failed";
    }
    return "failed";
}

InstanceId instance_id_of(std::string_view workflow_id) {
    if (const auto id = InstanceId::parse(workflow_id)) return *id;
    const std::string hex = sha256_hex(workflow_id);
    InstanceId id;
    for (std::size_t i = 0; i < id.bytes.size(); ++i) {
        std::from_chars(hex.data() + 2 * i, hex.data() + 2 * i + 2, id.bytes[i], 16);
    }
    id.bytes[6] = static_cast<std::uint8_t>((id.bytes[6] & 0x0F) | 0x80);
    id.bytes[8] = static_cast<std::uint8_t>((id.bytes[8] & 0x3F) | 0x80);
    return id;
}

Snapshot::Snapshot(std::unique_ptr<Data> data) : data_(std::move(data)) {}

Snapshot::Snapshot(const Snapshot& other) : data_(std::make_unique<Data>(*other.data_)) {}

Snapshot::Snapshot(Snapshot&& other) noexcept = default;

Snapshot& Snapshot::operator=(const Snapshot& other) {
    if (this != &other) data_ = std::make_unique<Data>(*other.data_);
    return *this;
}

Snapshot& Snapshot::operator=(Snapshot&& other) noexcept = default;
Snapshot::~Snapshot() = default;

std::string Snapshot::to_json() const {
    return write_snapshot(*data_);
}

const std::string& Snapshot::workflow_id() const {
    return data_->workflow_id;
}

const InstanceId& Snapshot::instance() const {
    return data_->identity.id;
}

std::string Snapshot::run_id() const {
    return data_->state.run ? data_->state.run->to_string() : std::string();
}

const std::string& Snapshot::workflow() const {
    return data_->definition().name;
}

int Snapshot::workflow_version() const {
    return data_->definition().version;
}

const std::string& Snapshot::key() const {
    return data_->identity.key;
}

std::string Snapshot::start_node() const {
    const NodeIndex node = stateless::start_node(*data_);
    return node == kNoNode ? std::string() : data_->program().node(node).name;
}

SnapshotStatus Snapshot::status() const {
    return status_of(data_->state);
}

InstanceStatus Snapshot::instance_status() const {
    return data_->state.status;
}

bool Snapshot::is_finished() const {
    return is_terminal(data_->state.status);
}

std::string Snapshot::current_node() const {
    const NodeIndex node = stateless::current_node(*data_);
    return node == kNoNode ? std::string() : data_->program().node(node).name;
}

std::int64_t Snapshot::version() const {
    return data_->version;
}

TimePoint Snapshot::next_due() const {
    return stateless::next_due(data_->state);
}

std::optional<RetryState> Snapshot::retry_state() const {
    return stateless::retry_state(*data_);
}

std::vector<WaitingFor> Snapshot::waiting_for() const {
    return stateless::waiting_for(*data_);
}

Payload Snapshot::input() const {
    return data_->record.payload(1);
}

Payload Snapshot::output() const {
    return output_of(*data_);
}

Payload Snapshot::error() const {
    return error_of(*data_);
}

std::vector<NodeResult> Snapshot::results(std::string_view node) const {
    std::vector<NodeResult> results;
    const NodeIndex index = data_->program().find(node);
    for (const Kept& event : data_->record.events()) {
        if (event.is_gone || event.node != index || index == kNoNode) continue;
        if (!is_result(event.type)) continue;
        const bool has_failed = is_error(event.type);
        results.push_back({
            .output = has_failed ? Payload("null") : Payload(event.payload.view()),
            .error = has_failed ? failure_message(event.payload.view()) : std::string(),
            .at = event.at,
            .attempt = event.attempt,
            .is_compensation = event.type == HistoryType::StepCompensated ||
                               event.type == HistoryType::CompensationRetried ||
                               event.type == HistoryType::CompensationFailed,
        });
    }
    return results;
}

TimePoint Snapshot::started_at() const {
    const Kept* started = data_->record.find(1);
    return started == nullptr ? TimePoint{} : started->at;
}

TimePoint Snapshot::last_started_at() const {
    return data_->last_started_at;
}

Duration Snapshot::total_execution_time() const {
    return data_->total_execution_time;
}

const Payload& Snapshot::metadata() const {
    return data_->metadata;
}

void Snapshot::set_metadata(Payload object) {
    const Json json = parse_json(object, "The metadata", {.payload_bytes_max = kMetadataBytesMax});
    if (!json.is_object()) {
        throw Error(ErrorCode::InvalidPayload, "The metadata must be a JSON object.");
    }
    data_->metadata = std::move(object);
    ++data_->version;
}

}  // namespace ebb::stateless
