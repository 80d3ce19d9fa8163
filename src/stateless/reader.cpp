#include <algorithm>
#include <cmath>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <ebb/error.h>

#include "stateless/check.h"
#include "stateless/codec.h"
#include "stateless/event_reader.h"
#include "support/json.h"

namespace ebb::stateless {

namespace {

/// How many events a text of so many bytes may hold.
std::size_t events_expected(std::size_t bytes) {
    constexpr std::size_t kBytesOfOne = 144;
    constexpr std::size_t kMax = 4'096;
    return std::min(3 + bytes / kBytesOfOne, kMax);
}

/// A text that outlives the caller that passed it in.
struct Text {
    explicit Text(std::string_view from)
        : bytes(std::make_shared_for_overwrite<char[]>(from.size())),
          view(bytes.get(), from.size()) {
        if (!from.empty()) std::memcpy(bytes.get(), from.data(), from.size());
    }

    std::shared_ptr<char[]> bytes;
    std::string_view view;
};

class Reader {
 public:
    Reader(
        std::string_view text,
        const FindWorkflow& find,
        const HistoryPolicy& policy,
        JsonReader::Guess guess
    )
        : text_(text),
          guess_(guess),
          json_(text_.view, JsonReader::kDepthMax, guess),
          find_(find),
          policy_(policy) {
        events_.reserve(events_expected(text.size()));
        events_.emplace_back().seq = 1;
    }

    std::unique_ptr<Snapshot::Data> read() {
        const auto field = [this](std::string_view key) {
            try {
                read_field(key);
            } catch (...) {
                field_ = key;
                throw;
            }
        };
        if (json_.begins(R"({"formatVersion":)")) {
            expected_ = "formatVersion";
            read_format();
            read_expected();
            expected_ = {};
            json_.rest(field);
        } else {
            json_.object(field);
        }
        json_.end();
        return finish();
    }

    /// The field in which reading ended, for the message of an error.
    std::string_view field() const { return expected_.empty() ? field_ : expected_; }

 private:
    /// What a snapshot has, in the order in which it is written.
    void read_expected() {
        if (follows(R"(,"workflowId":)")) workflow_id_ = json_.string_view(decoded_id_);
        if (follows(R"(,"runId":)")) read_run();
        if (follows(R"(,"workflow":)")) read_workflow();
        if (follows(R"(,"status":)")) derived_.status = json_.string_view(status_);
        if (follows(R"(,"currentNodeId":)")) read_current_node();
        if (follows(R"(,"context":)")) read_context();
        if (follows(R"(,"version":)")) version_ = json_.integer();
        if (follows(R"(,"lastStartedAt":)")) last_started_at_ = from_milliseconds(json_.integer());
        if (follows(R"(,"totalExecutionTime":)")) read_total();
        if (follows(R"(,"metadata":)")) read_metadata();
        if (follows(R"(,"retryState":)")) json_.skip();
        if (follows(R"(,"key":)")) key_ = json_.string();
        if (follows(R"(,"startedAt":)")) started_at_ = from_milliseconds(json_.integer());
        if (follows(R"(,"input":)")) input_ = json_.raw();
        if (follows(R"(,"startNodeId":)")) start_node_ = json_.string();
        if (follows(R"(,"output":)")) json_.skip();
        if (follows(R"(,"state":)")) read_state_field();
        if (follows(R"(,"events":)")) read_events();
    }

    template <std::size_t N>
    bool follows(const char (&member)[N]) {
        if (!json_.follows(member)) return false;
        // Without its comma, quotes and colon.
        expected_ = std::string_view(member).substr(2, N - 5);
        return true;
    }

    void read_field(std::string_view key) {
        if (key == "formatVersion") {
            read_format();
        } else if (key == "workflowId") {
            workflow_id_ = json_.string_view(decoded_id_);
        } else if (key == "workflow") {
            read_workflow();
        } else if (key == "context") {
            read_context();
        } else if (key == "events") {
            read_events();
        } else if (key == "state") {
            read_state_field();
        } else if (key == "version") {
            version_ = json_.integer();
        } else if (key == "key") {
            key_ = json_.string();
        } else if (key == "metadata") {
            read_metadata();
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
            derived_.status = json_.string_view(status_);
        } else if (key == "currentNodeId") {
            read_current_node();
        } else if (key == "runId") {
            read_run();
        } else if (key == "startNodeId") {
            start_node_ = json_.string();
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

    void read_run() {
        run_ = InstanceId::parse(json_.string());
        if (!run_) throw_corrupt("its runId is not a UUID");
    }

    /// A node that an instance can begin at, or none.
    NodeIndex start_node() const {
        if (start_node_.empty()) return kNoNode;
        const NodeIndex node = nodes_->program().find_start(start_node_);
        if (node == kNoNode) {
            throw_corrupt(fmt::format(
                "its startNodeId is \"{}\", and its workflow cannot begin there",
                clean_text(start_node_, DefinitionLimits::kNameBytesMax)
            ));
        }
        return node;
    }

    void read_current_node() {
        if (!json_.null()) derived_.current_node = json_.string_view(current_node_);
    }

    void read_metadata() {
        if (json_.peek() != '{') throw_corrupt("the metadata is not an object");
        metadata_ = json_.raw();
    }

    void read_total() {
        std::int64_t microseconds = 0;
        if (json_.plain_thousandths(microseconds)) return void(total_ = Duration(microseconds));
        const double total = json_.number() * 1e3;
        if (total < 0 || total > 1e17) throw_corrupt("a duration is out of range");
        total_ = Duration(static_cast<Duration::rep>(std::llround(total)));
    }

    void read_workflow() {
        std::string decoded_name;
        std::string decoded_checksum;
        std::string_view name;
        std::string_view checksum;
        std::int64_t version = 0;
        const auto field = [&](std::string_view key) {
            if (key == "name") {
                name = json_.string_view(decoded_name);
            } else if (key == "version") {
                version = json_.integer();
            } else if (key == "checksum") {
                checksum = json_.string_view(decoded_checksum);
            } else {
                json_.skip();
            }
        };
        if (json_.begins(R"({"name":)")) {
            field("name");
            if (json_.follows(R"(,"version":)")) field("version");
            if (json_.follows(R"(,"checksum":)")) field("checksum");
            json_.rest(field);
        } else {
            json_.object(field);
        }
        if (version < 1 || version > DefinitionLimits::kVersionMax) {
            throw_corrupt("the workflow's version is out of range");
        }
        use(find_(name, static_cast<int>(version)), checksum);
    }

    void use(std::shared_ptr<const Workflow> workflow, std::string_view checksum) {
        if (workflow->checksum != checksum) {
            const Definition& definition = workflow->program->definition();
            throw Error(
                ErrorCode::WorkflowConflict,
                fmt::format(
                    "The snapshot was made with a different definition of workflow \"{}\" version "
                    "{}; a changed workflow needs a new version.",
                    definition.name,
                    definition.version
                )
            );
        }
        // Nodes that were already read are those of the first one.
        if (data_ && data_->workflow != workflow) throw_corrupt("it names two workflows");
        if (data_) return;
        const Program& program = *workflow->program;
        nodes_.emplace(program);
        // In the order of its fields, so that nothing is moved.
        data_ = std::make_unique<Snapshot::Data>(
            std::move(workflow),
            std::string(),
            InstanceIdentity{},
            InstanceState{},
            Record(&program, policy_)
        );
    }

    // These are read immediately if the workflow is already known; else their text is kept for
    // later.

    void read_context() {
        if (!nodes_) return void(context_ = json_.raw());
        EventReader(*nodes_, events_).context(json_);
    }

    void read_events() {
        if (!nodes_) return void(kept_events_ = json_.raw());
        EventReader(*nodes_, events_).events(json_);
    }

    void read_state_field() {
        const JsonReader::Place start = json_.place();
        if (nodes_) {
            try {
                if (!state_.empty()) data_->state = {};
                read_state(json_, *nodes_, data_->state);
                state_ = json_.since(start);
                is_state_read_ = true;
                return;
            } catch (const std::exception&) {
                // What is wrong with it is said after what is wrong with the text around it.
                json_.back_to(start);
            }
        }
        state_ = json_.raw();
        is_state_read_ = false;
    }

    void read_kept() {
        EventReader reader(*nodes_, events_);
        if (!context_.empty()) {
            field_ = "context";
            JsonReader json(context_, JsonReader::kDepthMax, guess_);
            reader.context(json);
        }
        if (!kept_events_.empty()) {
            field_ = "events";
            JsonReader json(kept_events_, JsonReader::kDepthMax, guess_);
            reader.events(json);
        }
    }

    void require(bool is_given, const char* field) const {
        if (!is_given) throw_corrupt(fmt::format("it has no {}", field));
    }

    /// What every reader of JSON can keep as a number, and far from an overflow.
    static constexpr std::int64_t kVersionMax = (std::int64_t{1} << 53) - 1;

    std::unique_ptr<Snapshot::Data> finish() {
        require(has_format_, "formatVersion");
        require(!workflow_id_.empty(), "workflowId");
        require(data_ != nullptr, "workflow");
        require(!state_.empty(), "state");
        require(version_ >= 0 && version_ <= kVersionMax, "version from 0 to 2^53 - 1");
        require(!input_.empty(), "input");
        read_kept();
        Kept& started = events_.front();
        started.at = started_at_;
        started.payload.refer_to(input_);
        started.node = start_node();
        sort_events();
        field_ = "state";
        if (!is_state_read_) data_->state = decode_state(state_, nodes_->program());
        field_.clear();
        data_->state.run = run_;
        data_->workflow_id = workflow_id_;
        data_->identity = {.id = instance_id_of(workflow_id_), .key = std::move(key_)};
        data_->version = version_;
        data_->last_started_at = last_started_at_;
        data_->total_execution_time = total_;
        data_->metadata = Payload(metadata_);
        check_events(events_, data_->state, nodes_->program());
        data_->record.restore(std::move(events_), data_->state, std::move(text_.bytes));
        check_snapshot(*data_, derived_);
        return std::move(data_);
    }

    void sort_events() {
        const auto is_earlier = [](const Kept& left, const Kept& right) {
            return left.seq < right.seq;
        };
        if (!std::is_sorted(events_.begin(), events_.end(), is_earlier)) {
            std::sort(events_.begin(), events_.end(), is_earlier);
        }
    }

    Text text_;
    JsonReader::Guess guess_;
    JsonReader json_;
    const FindWorkflow& find_;
    const HistoryPolicy& policy_;
    std::string field_;
    std::string_view expected_;
    bool has_format_ = false;
    std::string_view workflow_id_;
    std::optional<InstanceId> run_;
    std::string start_node_;
    std::unique_ptr<Snapshot::Data> data_;
    std::optional<NodeFinder> nodes_;
    std::string_view context_;
    std::string_view kept_events_;
    std::string_view state_;
    bool is_state_read_ = false;
    std::string_view input_;
    std::string_view metadata_ = "{}";
    std::int64_t version_ = -1;
    std::string key_;
    TimePoint last_started_at_{};
    TimePoint started_at_{};
    Duration total_{0};
    Derived derived_;
    std::string decoded_id_;  // if they have escapes
    std::string status_;
    std::string current_node_;
    std::vector<Kept> events_;
};

[[noreturn]] void throw_unreadable(
    std::string_view text, std::string_view field, const JsonSyntaxError& error
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
    std::string_view text,
    const FindWorkflow& find,
    const HistoryPolicy& policy,
    JsonReader::Guess guess
) {
    Reader reader(text, find, policy, guess);
    try {
        return reader.read();
    } catch (const JsonSyntaxError& error) {
        throw_unreadable(text, reader.field(), error);
    }
}

}  // namespace ebb::stateless
