#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <ebb/error.h>

#include "stateless/check.h"
#include "stateless/codec.h"
#include "stateless/work.h"
#include "support/json.h"
#include "support/json_reader.h"

namespace ebb::stateless {

namespace {

constexpr std::size_t kEventsExpected = 16;

TimePoint from_milliseconds(std::int64_t value) {
    constexpr std::int64_t kMax = 253'402'300'800'000;  // the year 10000
    if (value < -kMax || value > kMax) throw_corrupt("a time is out of range");
    return TimePoint(std::chrono::milliseconds(value));
}

/// Reads the events of a workflow whose nodes are known.
class EventReader {
 public:
    EventReader(const Program& program, std::vector<Kept>& events)
        : program_(program), events_(events) {}

    void context(JsonReader& json) {
        json.object([&](std::string_view name) {
            const NodeIndex node = find(name);
            json.array([&] {
                Kept event = read(json);
                event.node = node;
                if (!is_result(event.type)) {
                    throw_corrupt(fmt::format("a result of node \"{}\" is none", name));
                }
                if (event.payload.empty()) {
                    throw_corrupt(fmt::format("a result of node \"{}\" has no output", name));
                }
                events_.push_back(std::move(event));
            });
        });
    }

    void events(JsonReader& json) {
        json.array([&] { events_.push_back(read(json)); });
    }

 private:
    NodeIndex find(std::string_view name) const {
        const NodeIndex node = program_.find(name);
        if (node == kNoNode) {
            throw_corrupt(fmt::format("the workflow has no node \"{}\"", name));
        }
        return node;
    }

    Kept read(JsonReader& json) {
        Kept event;
        event.type = HistoryType::StepCompleted;
        std::string_view output;
        json.object([&](std::string_view key) {
            if (key == "output") {
                output = json.raw();
            } else if (key == "failure" || key == "payload") {
                event.payload = json.raw();
            } else if (key == "timestamp") {
                event.at = from_milliseconds(json.integer());
            } else {
                read_place(json, key, event);
            }
        });
        if (event.payload.empty()) event.payload = output;
        return event;
    }

    void read_place(JsonReader& json, std::string_view key, Kept& event) {
        if (key == "attempt") {
            event.attempt = static_cast<std::int32_t>(std::clamp<std::int64_t>(
                json.integer(), 0, std::numeric_limits<std::int32_t>::max()
            ));
        } else if (key == "seq") {
            event.seq = json.integer();
        } else if (key == "visit") {
            event.visit = json.integer();
        } else if (key == "ref") {
            event.ref = json.integer();
        } else if (key == "path") {
            event.path = json.string();
        } else if (key == "undoable") {
            event.is_undoable = json.boolean();
        } else if (key == "node") {
            event.node = find(json.string_view(decoded_));
        } else if (key == "type") {
            event.type = type(json);
        } else {
            json.skip();
        }
    }

    HistoryType type(JsonReader& json) {
        const std::string_view text = json.string_view(decoded_);
        const auto type = parse_history_type(text);
        if (!type) throw_corrupt(fmt::format("\"{}\" is no type of event", text));
        return *type;
    }

    const Program& program_;
    std::vector<Kept>& events_;
    std::string decoded_;
};

class Reader {
 public:
    Reader(std::string_view text, const FindWorkflow& find) : json_(text), find_(find) {
        events_.reserve(kEventsExpected);
        events_.push_back({.seq = 1, .payload = {}, .path = {}});
    }

    std::unique_ptr<Snapshot::Data> read(const HistoryPolicy& policy) {
        json_.object([&](std::string_view key) {
            try {
                read_field(key);
            } catch (...) {
                field_ = key;
                throw;
            }
        });
        json_.end();
        return finish(policy);
    }

    /// The field in which reading ended, for the message of an error.
    const std::string& field() const { return field_; }

 private:
    void read_field(std::string_view key) {
        if (key == "formatVersion") {
            read_format();
        } else if (key == "workflowId") {
            workflow_id_ = json_.string();
        } else if (key == "workflow") {
            read_workflow();
        } else if (key == "context") {
            context_ = take_or_keep([&](EventReader& reader) { reader.context(json_); });
        } else if (key == "events") {
            kept_events_ = take_or_keep([&](EventReader& reader) { reader.events(json_); });
        } else if (key == "state") {
            state_ = json_.raw();
        } else if (key == "version") {
            version_ = json_.integer();
        } else if (key == "key") {
            key_ = json_.string();
        } else if (key == "metadata") {
            if (json_.peek() != '{') throw_corrupt("the metadata is no object");
            metadata_ = json_.raw();
        } else {
            read_time_field(key);
        }
    }

    void read_time_field(std::string_view key) {
        if (key == "lastStartedAt") {
            last_started_at_ = from_milliseconds(json_.integer());
        } else if (key == "totalExecutionTime") {
            read_total();
        } else if (key == "startedAt") {
            started_at_ = from_milliseconds(json_.integer());
        } else if (key == "input") {
            input_ = json_.raw();
        } else if (key == "status") {
            derived_.status = json_.string();
        } else if (key == "currentNodeId") {
            if (!json_.null()) derived_.current_node = json_.string();
        } else {
            json_.skip();
        }
    }

    void read_format() {
        const std::int64_t format = json_.integer();
        if (format < 1 || format > kFormatVersion) {
            throw_corrupt(fmt::format(
                "its formatVersion is {}, and this program reads up to {}", format, kFormatVersion
            ));
        }
        has_format_ = true;
    }

    void read_total() {
        const double total = json_.number() * 1e3;
        if (total < 0 || total > 1e17) throw_corrupt("a duration is out of range");
        total_ = Duration(static_cast<Duration::rep>(std::llround(total)));
    }

    void read_workflow() {
        std::string name;
        std::int64_t version = 0;
        std::string checksum;
        json_.object([&](std::string_view key) {
            if (key == "name") {
                name = json_.string();
            } else if (key == "version") {
                version = json_.integer();
            } else if (key == "checksum") {
                checksum = json_.string();
            } else {
                json_.skip();
            }
        });
        if (version < 1 || version > DefinitionLimits::kVersionMax) {
            throw_corrupt("the workflow's version is out of range");
        }
        workflow_ = find_(name, static_cast<int>(version));
        if (workflow_->checksum != checksum) {
            throw Error(
                ErrorCode::WorkflowConflict,
                fmt::format(
                    "The snapshot was made by another definition of workflow \"{}\" version {} "
                    "than "
                    "the one that is known here; a changed workflow needs a new version.",
                    name,
                    version
                )
            );
        }
    }

    /// Reads at once where the workflow is known already; else keeps the text for later.
    template <typename Read>
    std::string_view take_or_keep(Read read) {
        if (!workflow_) return json_.raw();
        EventReader reader(*workflow_->program, events_);
        read(reader);
        return {};
    }

    void read_kept() {
        EventReader reader(*workflow_->program, events_);
        if (!context_.empty()) {
            field_ = "context";
            JsonReader json(context_);
            reader.context(json);
        }
        if (!kept_events_.empty()) {
            field_ = "events";
            JsonReader json(kept_events_);
            reader.events(json);
        }
    }

    void require(bool is_given, const char* field) const {
        if (!is_given) throw_corrupt(fmt::format("it has no {}", field));
    }

    std::unique_ptr<Snapshot::Data> finish(const HistoryPolicy& policy) {
        require(has_format_, "formatVersion");
        require(!workflow_id_.empty(), "workflowId");
        require(workflow_ != nullptr, "workflow");
        require(!state_.empty(), "state");
        require(version_ >= 0, "version of 0 or more");
        require(!input_.empty(), "input");
        read_kept();
        Kept& started = events_.front();
        started.at = started_at_;
        started.payload = input_;
        const auto is_earlier = [](const Kept& left, const Kept& right) {
            return left.seq < right.seq;
        };
        if (!std::is_sorted(events_.begin(), events_.end(), is_earlier)) {
            std::sort(events_.begin(), events_.end(), is_earlier);
        }
        field_ = "state";
        const Program& program = *workflow_->program;
        auto data = std::make_unique<Snapshot::Data>(Snapshot::Data{
            .workflow = workflow_,
            .workflow_id = std::move(workflow_id_),
            .identity = {.id = {}, .key = std::move(key_)},
            .state = decode_state(state_, program),
            .record = Record(&program, policy),
            .version = version_,
            .last_started_at = last_started_at_,
            .total_execution_time = total_,
            .metadata = Payload(metadata_),
        });
        field_.clear();
        data->identity.id = instance_id_of(data->workflow_id);
        check_events(events_, data->state, program);
        data->record.restore(std::move(events_), data->state);
        check_snapshot(*data, derived_);
        return data;
    }

    JsonReader json_;
    const FindWorkflow& find_;
    std::string field_;
    bool has_format_ = false;
    std::string workflow_id_;
    std::shared_ptr<const Workflow> workflow_;
    std::string_view context_;
    std::string_view kept_events_;
    std::string_view state_;
    std::string_view input_;
    std::string_view metadata_ = "{}";
    std::int64_t version_ = -1;
    std::string key_;
    TimePoint last_started_at_{};
    TimePoint started_at_{};
    Duration total_{0};
    Derived derived_;
    std::vector<Kept> events_;
};

[[noreturn]] void throw_unreadable(
    std::string_view text, const std::string& field, const JsonSyntaxError& error
) {
    try {
        JsonReader json(text);
        json.skip();
        json.end();
    } catch (const JsonSyntaxError& syntax) {
        throw Error(
            ErrorCode::InvalidPayload,
            fmt::format(
                "The snapshot is not valid JSON: at byte {}: {}.", syntax.at() + 1, syntax.what()
            )
        );
    }
    throw_corrupt(fmt::format(
        "{}{}",
        field.empty() ? "" : "in the field \"" + clean_text(field, 100) + "\" ",
        error.what()
    ));
}

}  // namespace

std::unique_ptr<Snapshot::Data> read_snapshot(
    std::string_view text, const FindWorkflow& find, const HistoryPolicy& policy
) {
    Reader reader(text, find);
    try {
        return reader.read(policy);
    } catch (const JsonSyntaxError& error) {
        throw_unreadable(text, reader.field(), error);
    }
}

}  // namespace ebb::stateless
