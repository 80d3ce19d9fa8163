#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "core/kernel/program.h"
#include "support/json.h"

// The text is written by hand because every durable step writes one; fields that have their default
// value are left out.

namespace ebb {

namespace {

class Writer {
 public:
    explicit Writer(const Program& program) : program_(program) { out_.reserve(256); }

    std::string write(const InstanceState& state) {
        out_ += '{';
        text("status", to_string(state.status));
        if (state.status == InstanceStatus::Paused)
            text("paused_from", to_string(state.paused_from));
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
        list("signals", state.signals, [this](const BufferedSignal& signal) {
            out_ += '{';
            text("name", signal.name);
            number("event", signal.event);
            close();
        });
        list("requests", state.requests, [this](const std::string& request) {
            append_json_string(out_, request);
        });
        close();
        return std::move(out_);
    }

 private:
    const Program& program_;
    std::string out_;

    void key(std::string_view name) {
        if (out_.back() != '{') out_ += ',';
        out_ += '"';
        out_ += name;
        out_ += "\":";
    }

    void text(std::string_view name, std::string_view value) {
        key(name);
        append_json_string(out_, value);
    }

    void number(std::string_view name, std::int64_t value) {
        if (value == 0) return;
        key(name);
        append_number(out_, value);
    }

    void flag(std::string_view name, bool value) {
        if (!value) return;
        key(name);
        out_ += "true";
    }

    void time(std::string_view name, TimePoint value) {
        if (value != kNever) {
            key(name);
            append_number(out_, value.time_since_epoch().count());
        }
    }

    void node(std::string_view name, NodeIndex index) {
        if (index != kNoNode) text(name, program_.node(index).name);
    }

    void close() { out_ += '}'; }

    template <typename Items, typename Write>
    void list(std::string_view name, const Items& items, Write write) {
        if (items.empty()) return;
        key(name);
        out_ += '[';
        bool is_first = true;
        for (const auto& item : items) {
            if (!std::exchange(is_first, false)) out_ += ',';
            write(item);
        }
        out_ += ']';
    }

    void loops(const std::vector<LoopTurn>& turns) {
        list("loops", turns, [this](const LoopTurn& turn) {
            out_ += '{';
            node("loop", turn.loop);
            number("turn", turn.turn);
            close();
        });
    }

    void savepoint(const SavepointMark& mark) {
        key("savepoint");
        out_ += '{';
        node("node", mark.node);
        number("reached", mark.reached);
        number("resumes", mark.resumes);
        number("input", mark.input);
        loops(mark.loops);
        close();
    }

    void write_token(const Token& token) {
        out_ += '{';
        number("id", token.id);
        node("node", token.node);
        if (token.status != TokenStatus::Ready) text("status", to_string(token.status));
        number("scope", token.scope);
        number("branch", token.branch + 1);
        number("visit", token.visit);
        number("attempt", token.attempt);
        number("attempt_base", token.attempt_base);
        number("losses", token.losses);
        number("input", token.input);
        number("payload", token.payload);
        time("due", token.due);
        time("deadline", token.deadline);
        number("compensates", token.compensates);
        number("failed", token.failed);
        flag("parked", token.is_parked);
        flag("stopping", token.stopping);
        flag("in_doubt", token.in_doubt);
        flag("at_end", token.is_at_end);
        loops(token.loops);
        list("votes", token.votes, [this](const Vote& vote) { append_json_string(out_, vote.by); });
        close();
    }

    void write_scope(const Scope& scope) {
        out_ += '{';
        number("id", scope.id);
        number("parent", scope.parent);
        node("node", scope.node);
        number("opened", scope.opened);
        list("branches", scope.branches, [this](const BranchOutcome& branch) {
            out_ += '{';
            number("status", static_cast<std::int64_t>(branch.status));
            number("output", branch.output);
            close();
        });
        close();
    }

    void write_rollback(const Rollback& rollback) {
        out_ += '{';
        number("kind", static_cast<std::int64_t>(rollback.kind));
        number("scope", rollback.scope);
        number("cause", rollback.cause);
        number("first", rollback.first);
        number("cursor", rollback.cursor);
        number("floor", rollback.floor);
        time("deadline", rollback.deadline);
        close();
    }
};

}  // namespace

std::string encode_state(const InstanceState& state, const Program& program) {
    return Writer(program).write(state);
}

}  // namespace ebb
