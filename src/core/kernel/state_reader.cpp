// The reverse of encode_state. A state is read at every hop of an instance between processes, so no
// tree is built.

#include <limits>
#include <utility>

#include <fmt/format.h>

#include <ebb/error.h>

#include "core/kernel/label_codec.h"
#include "core/kernel/names.h"
#include "core/kernel/state_text.h"

namespace ebb {

namespace {

[[noreturn]] void throw_corrupt(const std::string& why) {
    throw Error(ErrorCode::CorruptState, "The stored state cannot be understood: " + why + ".");
}

class StateReader {
 public:
    StateReader(JsonReader& json, NodeFinder& nodes) : json_(json), nodes_(nodes) {}

    void read(InstanceState& state) {
        const auto field = [&](std::string_view key) {
            if (key == "status") {
                state.status = status();
                has_status_ = true;
            } else {
                read_field(state, key);
            }
        };
        if (json_.begins(R"({"status":)")) {
            field("status");
            read_expected(state);
            json_.rest(field);
        } else {
            json_.object(field);
        }
    }

    /// What can only be said of the whole.
    void complete(InstanceState& state) const {
        if (!has_status_) throw_corrupt("it has no status");
        if (state.status != InstanceStatus::Moved) state.moved_from = InstanceStatus::Running;
        const bool is_paused =
            state.status == InstanceStatus::Paused || state.moved_from == InstanceStatus::Paused;
        if (!is_paused) state.paused_from = InstanceStatus::Running;
        try {
            check_labels(state.labels);
        } catch (const Error& error) {
            throw_corrupt(error.what());
        }
        const std::string fault = fault_of(state, nodes_.program());
        if (!fault.empty()) throw_corrupt(fault);
    }

 private:
    /// What nearly every state has, in the order in which it is written.
    void read_expected(InstanceState& state) {
        if (json_.follows(R"(,"seq":)")) state.last_seq = json_.integer();
        if (json_.follows(R"(,"last_token":)")) state.last_token = json_.integer();
        if (json_.follows(R"(,"last_scope":)")) state.last_scope = json_.integer();
        if (json_.follows(R"(,"visit":)")) state.last_visit = json_.integer();
        if (json_.follows(R"(,"result":)")) state.result = json_.integer();
        if (json_.follows(R"(,"tokens":)")) read_list(state, "tokens");
    }

    void read_field(InstanceState& state, std::string_view key) {
        if (key == "paused_from") {
            state.paused_from = status();
        } else if (key == "moved_from") {
            state.moved_from = status();
            const bool can_be = state.moved_from < InstanceStatus::Moved;
            if (!can_be) throw_corrupt("it was moved from a status that it cannot return to");
        } else if (key == "seq") {
            state.last_seq = json_.integer();
        } else if (key == "last_token") {
            state.last_token = json_.integer();
        } else if (key == "last_scope") {
            state.last_scope = json_.integer();
        } else if (key == "visit") {
            state.last_visit = json_.integer();
        } else if (key == "deadline") {
            state.deadline = time();
        } else if (key == "result") {
            state.result = json_.integer();
        } else if (key == "error") {
            state.error = json_.integer();
        } else if (key == "savepoint") {
            state.savepoint = savepoint();
        } else {
            read_list(state, key);
        }
    }

    void read_list(InstanceState& state, std::string_view key) {
        if (key == "tokens") {
            json_.array([&] { read_token(state.tokens.emplace_back()); });
        } else if (key == "scopes") {
            json_.array([&] { state.scopes.push_back(scope()); });
        } else if (key == "rollbacks") {
            json_.array([&] { state.rollbacks.push_back(rollback()); });
        } else if (key == "records") {
            json_.array([&] { state.records.push_back(record()); });
        } else if (key == "signals") {
            json_.array([&] { state.signals.push_back(signal()); });
        } else if (key == "requests") {
            json_.array([&] { state.requests.push_back(json_.string()); });
        } else if (key == "labels") {
            state.labels = read_labels(json_);
        } else if (key == "run") {
            state.run = InstanceId::parse(json_.string_view(decoded_));
            if (!state.run) throw_corrupt("its run is not a UUID");
        } else if (key == "rules" && nodes_.program().rules() != nullptr) {
            state.rules = read_rules(json_, *nodes_.program().rules());
        } else {
            json_.skip();
        }
    }

    std::int32_t small_number() {
        const std::int64_t value = json_.integer();
        if (value < std::numeric_limits<std::int32_t>::min() ||
            value > std::numeric_limits<std::int32_t>::max()) {
            throw_corrupt("a number is out of range");
        }
        return static_cast<std::int32_t>(value);
    }

    TimePoint time() { return TimePoint(Duration(json_.integer())); }

    InstanceStatus status() {
        const std::string_view text = json_.string_view(decoded_);
        const auto value = parse_status(text);
        if (!value) throw_corrupt(fmt::format("\"{}\" is not an instance status", text));
        return *value;
    }

    NodeIndex node() {
        const std::string_view name = json_.string_view(decoded_);
        const NodeIndex index = nodes_.find(name);
        if (index == kNoNode) throw_corrupt(fmt::format("the workflow has no node \"{}\"", name));
        return index;
    }

    template <typename Enum>
    Enum enum_value(Enum last) {
        const std::int64_t value = json_.integer();
        if (value < 0 || value > static_cast<std::int64_t>(last)) {
            throw_corrupt("an enum is out of range");
        }
        return static_cast<Enum>(value);
    }

    std::vector<LoopTurn> loops() {
        std::vector<LoopTurn> turns;
        json_.array([&] {
            LoopTurn turn;
            json_.object([&](std::string_view key) {
                if (key == "loop") {
                    turn.loop = node();
                } else if (key == "turn") {
                    turn.turn = json_.integer();
                } else {
                    json_.skip();
                }
            });
            turns.push_back(turn);
        });
        return turns;
    }

    SavepointMark savepoint() {
        SavepointMark mark;
        json_.object([&](std::string_view key) {
            if (key == "node") {
                mark.node = node();
            } else if (key == "reached") {
                mark.reached = json_.integer();
            } else if (key == "resumes") {
                mark.resumes = small_number();
            } else if (key == "input") {
                mark.input = json_.integer();
            } else if (key == "loops") {
                mark.loops = loops();
            } else {
                json_.skip();
            }
        });
        return mark;
    }

    void read_token(Token& token) {
        const auto field = [&](std::string_view key) { read_token_field(token, key); };
        if (json_.begins(R"({"id":)")) {
            token.id = json_.integer();
            read_expected(token);
            json_.rest(field);
        } else {
            json_.object(field);
        }
    }

    void read_expected(Token& token) {
        if (json_.follows(R"(,"node":)")) token.node = node();
        if (json_.follows(R"(,"status":)")) token.status = token_status();
        if (json_.follows(R"(,"scope":)")) token.scope = json_.integer();
        if (json_.follows(R"(,"branch":)")) token.branch = small_number() - 1;
        if (json_.follows(R"(,"visit":)")) token.visit = json_.integer();
        if (json_.follows(R"(,"attempt":)")) token.attempt = small_number();
        if (json_.follows(R"(,"input":)")) token.input = json_.integer();
        if (json_.follows(R"(,"due":)")) token.due = time();
    }

    void read_token_field(Token& token, std::string_view key) {
        if (key == "id") {
            token.id = json_.integer();
        } else if (key == "node") {
            token.node = node();
        } else if (key == "status") {
            token.status = token_status();
        } else if (key == "visit") {
            token.visit = json_.integer();
        } else if (key == "attempt") {
            token.attempt = small_number();
        } else if (key == "input") {
            token.input = json_.integer();
        } else if (key == "scope") {
            token.scope = json_.integer();
        } else if (key == "branch") {
            token.branch = small_number() - 1;
        } else if (key == "due") {
            token.due = time();
        } else if (key == "deadline") {
            token.deadline = time();
        } else if (key == "loops") {
            token.loops = loops();
        } else {
            read_rare_token_field(token, key);
        }
    }

    void read_rare_token_field(Token& token, std::string_view key) {
        if (key == "attempt_base") {
            token.attempt_base = small_number();
        } else if (key == "losses") {
            token.losses = small_number();
        } else if (key == "pauses") {
            token.pauses = small_number();
        } else if (key == "payload") {
            token.payload = json_.integer();
        } else if (key == "compensates") {
            token.compensates = json_.integer();
        } else if (key == "failed") {
            token.failed = json_.integer();
        } else if (key == "fired") {
            token.fired = json_.integer();
        } else if (key == "concurrency_key") {
            token.concurrency_key = json_.string();
        } else if (key == "parked") {
            token.is_parked = json_.boolean();
        } else if (key == "stopping") {
            token.stopping = json_.boolean();
        } else if (key == "in_doubt") {
            token.in_doubt = json_.boolean();
        } else if (key == "at_end") {
            token.is_at_end = json_.boolean();
        } else if (key == "votes") {
            json_.array([&] { token.votes.push_back({.by = json_.string()}); });
        } else {
            json_.skip();
        }
    }

    TokenStatus token_status() {
        const std::string_view text = json_.string_view(decoded_);
        const auto value = parse_token_status(text);
        if (!value) throw_corrupt(fmt::format("\"{}\" is not a token status", text));
        return *value;
    }

    Scope scope() {
        Scope scope;
        json_.object([&](std::string_view key) {
            if (key == "id") {
                scope.id = json_.integer();
            } else if (key == "parent") {
                scope.parent = json_.integer();
            } else if (key == "node") {
                scope.node = node();
            } else if (key == "opened") {
                scope.opened = json_.integer();
            } else if (key == "branches") {
                json_.array([&] { scope.branches.push_back(branch()); });
            } else {
                json_.skip();
            }
        });
        return scope;
    }

    BranchOutcome branch() {
        BranchOutcome branch;
        json_.object([&](std::string_view key) {
            if (key == "status") {
                branch.status = enum_value(BranchOutcome::Status::Stopped);
            } else if (key == "output") {
                branch.output = json_.integer();
            } else {
                json_.skip();
            }
        });
        return branch;
    }

    Rollback rollback() {
        Rollback rollback;
        json_.object([&](std::string_view key) {
            if (key == "kind") {
                rollback.kind = enum_value(Rollback::Kind::Recover);
            } else if (key == "scope") {
                rollback.scope = json_.integer();
            } else if (key == "cause") {
                rollback.cause = json_.integer();
            } else if (key == "first") {
                rollback.first = json_.integer();
            } else if (key == "cursor") {
                rollback.cursor = json_.integer();
            } else if (key == "floor") {
                rollback.floor = json_.integer();
            } else if (key == "deadline") {
                rollback.deadline = time();
            } else {
                json_.skip();
            }
        });
        return rollback;
    }

    StepRecord record() {
        StepRecord record;
        json_.object([&](std::string_view key) {
            if (key == "node") {
                record.node = node();
            } else if (key == "visit") {
                record.visit = json_.integer();
            } else if (key == "attempts") {
                record.attempts = small_number();
            } else if (key == "failure") {
                record.failure = json_.integer();
            } else {
                json_.skip();
            }
        });
        return record;
    }

    BufferedSignal signal() {
        BufferedSignal signal;
        json_.object([&](std::string_view key) {
            if (key == "name") {
                signal.name = json_.string();
            } else if (key == "event") {
                signal.event = json_.integer();
            } else {
                json_.skip();
            }
        });
        return signal;
    }

    JsonReader& json_;
    NodeFinder& nodes_;
    std::string decoded_;
    bool has_status_ = false;
};

}  // namespace

void read_state(JsonReader& json, NodeFinder& nodes, InstanceState& state) {
    StateReader reader(json, nodes);
    reader.read(state);
    reader.complete(state);
}

InstanceState decode_state(std::string_view text, const Program& program) {
    try {
        JsonReader json(text);
        NodeFinder nodes(program);
        StateReader reader(json, nodes);
        InstanceState state;
        reader.read(state);
        json.end();
        reader.complete(state);
        return state;
    } catch (const JsonSyntaxError& error) {
        throw_corrupt(fmt::format("at byte {}: {}", error.at() + 1, error.what()));
    }
}

}  // namespace ebb
