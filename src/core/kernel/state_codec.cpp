#include <utility>

#include "core/kernel/label_codec.h"
#include "core/kernel/state_text.h"

// The text is written by hand because every durable step writes one; fields that have their default
// value are left out. Names of nodes are plain: a definition may have no others.

namespace ebb {

namespace {

class Writer {
 public:
    Writer(JsonWriter& out, const Program& program) : out_(out), program_(program) {}

    void write(const InstanceState& state, bool with_run) {
        out_.put('{');
        out_.plain("status", to_string(state.status));
        if (state.status == InstanceStatus::Moved)
            out_.plain("moved_from", to_string(state.moved_from));
        if (state.status == InstanceStatus::Paused || state.moved_from == InstanceStatus::Paused)
            out_.plain("paused_from", to_string(state.paused_from));
        number("seq", state.last_seq);
        number("last_token", state.last_token);
        number("last_scope", state.last_scope);
        number("visit", state.last_visit);
        time("deadline", state.deadline);
        number("result", state.result);
        number("error", state.error);
        if (state.savepoint) savepoint(*state.savepoint);
        list("tokens", state.tokens, [this](const Token& token) { write_token(token); });
        list("scopes", state.scopes, [this](const Scope& scope) { write_scope(scope); });
        list("rollbacks", state.rollbacks, [this](const Rollback& rollback) {
            write_rollback(rollback);
        });
        list("records", state.records, [this](const StepRecord& record) {
            out_.put('{');
            node("node", record.node);
            number("visit", record.visit);
            number("attempts", record.attempts);
            number("failure", record.failure);
            out_.put('}');
        });
        list("signals", state.signals, [this](const BufferedSignal& signal) {
            out_.put('{');
            out_.string("name", signal.name);
            number("event", signal.event);
            out_.put('}');
        });
        list("requests", state.requests, [this](const std::string& request) {
            out_.string(request);
        });
        write_labels(out_, state.labels);
        if (with_run && state.run) out_.plain("run", state.run->to_string());
        if (state.rules) write_rules(out_, *state.rules, *program_.rules());
        out_.put('}');
    }

 private:
    JsonWriter& out_;
    const Program& program_;

    template <std::size_t N>
    void number(const char (&name)[N], std::int64_t value) {
        if (value != 0) out_.number(name, value);
    }

    template <std::size_t N>
    void flag(const char (&name)[N], bool value) {
        if (value) out_.raw(name, "true");
    }

    template <std::size_t N>
    void time(const char (&name)[N], TimePoint value) {
        if (value != kNever) out_.number(name, value.time_since_epoch().count());
    }

    template <std::size_t N>
    void node(const char (&name)[N], NodeIndex index) {
        if (index != kNoNode) out_.plain(name, program_.node(index).name);
    }

    template <std::size_t N, typename Items, typename Write>
    void list(const char (&name)[N], const Items& items, Write write) {
        if (items.empty()) return;
        out_.key(name);
        out_.put('[');
        bool is_first = true;
        for (const auto& item : items) {
            if (!std::exchange(is_first, false)) out_.put(',');
            write(item);
        }
        out_.put(']');
    }

    void loops(const std::vector<LoopTurn>& turns) {
        list("loops", turns, [this](const LoopTurn& turn) {
            out_.put('{');
            node("loop", turn.loop);
            number("turn", turn.turn);
            out_.put('}');
        });
    }

    void savepoint(const SavepointMark& mark) {
        out_.key("savepoint");
        out_.put('{');
        node("node", mark.node);
        number("reached", mark.reached);
        number("resumes", mark.resumes);
        number("input", mark.input);
        loops(mark.loops);
        out_.put('}');
    }

    void write_token(const Token& token) {
        out_.put('{');
        number("id", token.id);
        node("node", token.node);
        if (token.status != TokenStatus::Ready) out_.plain("status", to_string(token.status));
        number("scope", token.scope);
        number("branch", token.branch + 1);
        number("visit", token.visit);
        number("attempt", token.attempt);
        number("attempt_base", token.attempt_base);
        number("losses", token.losses);
        number("pauses", token.pauses);
        number("input", token.input);
        number("payload", token.payload);
        time("due", token.due);
        time("deadline", token.deadline);
        number("compensates", token.compensates);
        number("failed", token.failed);
        number("fired", token.fired);
        if (!token.concurrency_key.empty()) out_.string("concurrency_key", token.concurrency_key);
        flag("parked", token.is_parked);
        flag("stopping", token.stopping);
        flag("in_doubt", token.in_doubt);
        flag("at_end", token.is_at_end);
        loops(token.loops);
        list("votes", token.votes, [this](const Vote& vote) { out_.string(vote.by); });
        out_.put('}');
    }

    void write_scope(const Scope& scope) {
        out_.put('{');
        number("id", scope.id);
        number("parent", scope.parent);
        node("node", scope.node);
        number("opened", scope.opened);
        list("branches", scope.branches, [this](const BranchOutcome& branch) {
            out_.put('{');
            number("status", static_cast<std::int64_t>(branch.status));
            number("output", branch.output);
            out_.put('}');
        });
        out_.put('}');
    }

    void write_rollback(const Rollback& rollback) {
        out_.put('{');
        number("kind", static_cast<std::int64_t>(rollback.kind));
        number("scope", rollback.scope);
        number("cause", rollback.cause);
        number("first", rollback.first);
        number("cursor", rollback.cursor);
        number("floor", rollback.floor);
        time("deadline", rollback.deadline);
        out_.put('}');
    }
};

}  // namespace

void write_state(JsonWriter& out, const InstanceState& state, const Program& program) {
    Writer(out, program).write(state, false);
}

std::string encode_state(const InstanceState& state, const Program& program) {
    JsonWriter out;
    Writer(out, program).write(state, true);
    return out.take();
}

}  // namespace ebb
