#include <iterator>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <ebb/error.h>

#include "core/kernel/names.h"
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
        fmt::format_to(std::back_inserter(out_), "{}", value);
    }

    void flag(std::string_view name, bool value) {
        if (!value) return;
        key(name);
        out_ += "true";
    }

    void time(std::string_view name, TimePoint value) {
        if (value != kNever) {
            key(name);
            fmt::format_to(std::back_inserter(out_), "{}", value.time_since_epoch().count());
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

[[noreturn]] void throw_corrupt(const std::string& why) {
    throw Error(ErrorCode::CorruptState, "The stored state cannot be understood: " + why + ".");
}

class Reader {
 public:
    explicit Reader(const Program& program) : program_(program) {}

    InstanceState read(const Json& json) const {
        InstanceState state;
        state.status = status(json, "status");
        if (state.status == InstanceStatus::Paused) state.paused_from = status(json, "paused_from");
        state.last_seq = number(json, "seq");
        state.last_token = number(json, "last_token");
        state.last_scope = number(json, "last_scope");
        state.last_visit = number(json, "visit");
        state.deadline = time(json, "deadline");
        state.result = number(json, "result");
        state.error = number(json, "error");
        if (json.contains("savepoint")) state.savepoint = savepoint(json.at("savepoint"));
        each(json, "tokens", [&](const Json& item) { state.tokens.push_back(token(item)); });
        each(json, "scopes", [&](const Json& item) { state.scopes.push_back(scope(item)); });
        each(json, "rollbacks", [&](const Json& item) {
            state.rollbacks.push_back(rollback(item));
        });
        each(json, "signals", [&](const Json& item) {
            state.signals.push_back(
                {.name = item.at("name").get<std::string>(), .event = number(item, "event")}
            );
        });
        each(json, "requests", [&](const Json& item) {
            state.requests.push_back(item.get<std::string>());
        });
        check(state);
        return state;
    }

 private:
    const Program& program_;

    static std::int64_t number(const Json& json, const char* name) {
        const auto found = json.find(name);
        return found == json.end() ? 0 : found->get<std::int64_t>();
    }

    static std::int32_t small_number(const Json& json, const char* name) {
        return static_cast<std::int32_t>(number(json, name));
    }

    static TimePoint time(const Json& json, const char* name) {
        const auto found = json.find(name);
        return found == json.end() ? kNever : TimePoint(Duration(found->get<std::int64_t>()));
    }

    static bool flag(const Json& json, const char* name) {
        return json.contains(name) && json.at(name).get<bool>();
    }

    static InstanceStatus status(const Json& json, const char* name) {
        const auto text = json.at(name).get<std::string>();
        const auto value = parse_status(text);
        if (!value) throw_corrupt("\"" + text + "\" is no instance status");
        return *value;
    }

    NodeIndex node(const Json& json, const char* name) const {
        const auto found = json.find(name);
        if (found == json.end()) return kNoNode;
        const NodeIndex index = program_.find(found->get<std::string>());
        if (index == kNoNode)
            throw_corrupt("the workflow has no node \"" + found->get<std::string>() + "\"");
        return index;
    }

    template <typename Each>
    static void each(const Json& json, const char* name, Each take) {
        const auto found = json.find(name);
        if (found == json.end()) return;
        for (const Json& item : *found) take(item);
    }

    std::vector<LoopTurn> loops(const Json& json) const {
        std::vector<LoopTurn> turns;
        each(json, "loops", [&](const Json& item) {
            turns.push_back({.loop = node(item, "loop"), .turn = number(item, "turn")});
        });
        return turns;
    }

    SavepointMark savepoint(const Json& json) const {
        return {
            .node = node(json, "node"),
            .reached = number(json, "reached"),
            .resumes = small_number(json, "resumes"),
            .loops = loops(json),
            .input = number(json, "input")
        };
    }

    Token token(const Json& json) const {
        Token token;
        token.id = number(json, "id");
        token.node = node(json, "node");
        if (json.contains("status")) {
            const auto text = json.at("status").get<std::string>();
            const auto value = parse_token_status(text);
            if (!value) throw_corrupt("\"" + text + "\" is no token status");
            token.status = *value;
        }
        token.scope = number(json, "scope");
        token.branch = small_number(json, "branch") - 1;
        token.visit = number(json, "visit");
        token.attempt = small_number(json, "attempt");
        token.attempt_base = small_number(json, "attempt_base");
        token.losses = small_number(json, "losses");
        token.input = number(json, "input");
        token.due = time(json, "due");
        token.deadline = time(json, "deadline");
        token.compensates = number(json, "compensates");
        token.is_parked = flag(json, "parked");
        token.failed = number(json, "failed");
        token.stopping = flag(json, "stopping");
        token.in_doubt = flag(json, "in_doubt");
        token.is_at_end = flag(json, "at_end");
        token.loops = loops(json);
        each(json, "votes", [&](const Json& item) {
            token.votes.push_back({.by = item.get<std::string>()});
        });
        return token;
    }

    Scope scope(const Json& json) const {
        Scope scope;
        scope.id = number(json, "id");
        scope.parent = number(json, "parent");
        scope.node = node(json, "node");
        scope.opened = number(json, "opened");
        each(json, "branches", [&](const Json& item) {
            scope.branches.push_back(
                {.status = enum_value<BranchOutcome::Status>(
                     number(item, "status"), BranchOutcome::Status::Stopped
                 ),
                 .output = number(item, "output")}
            );
        });
        return scope;
    }

    static Rollback rollback(const Json& json) {
        return {
            .kind = enum_value<Rollback::Kind>(number(json, "kind"), Rollback::Kind::Losers),
            .scope = number(json, "scope"),
            .cause = number(json, "cause"),
            .first = number(json, "first"),
            .cursor = number(json, "cursor"),
            .floor = number(json, "floor"),
            .deadline = time(json, "deadline")
        };
    }

    template <typename Enum>
    static Enum enum_value(std::int64_t value, Enum last) {
        if (value < 0 || value > static_cast<std::int64_t>(last))
            throw_corrupt("an enum is out of range");
        return static_cast<Enum>(value);
    }

    /// What the kernel relies on without asking: every reference inside the state leads somewhere.
    void check(const InstanceState& state) const {
        for (const Scope& scope : state.scopes) {
            const bool fits = scope.node != kNoNode && state.find_token(scope.parent) != nullptr &&
                              state.find_token(scope.parent)->scope < scope.id &&
                              program_.node(scope.node).branches.size() == scope.branches.size();
            if (!fits) throw_corrupt("a scope does not fit its block");
        }
        for (const Token& token : state.tokens) check(state, token);
        for (const Rollback& rollback : state.rollbacks) {
            if (rollback.scope != 0 && state.find_scope(rollback.scope) == nullptr) {
                throw_corrupt("a rollback of a scope that is not there");
            }
        }
    }

    void check(const InstanceState& state, const Token& token) const {
        if (token.node == kNoNode) throw_corrupt("a token stands nowhere");
        const Scope* scope = state.find_scope(token.scope);
        if (token.scope != 0 && scope == nullptr)
            throw_corrupt("a token is in a scope that is not there");
        const auto branches =
            scope == nullptr ? std::int32_t{0} : static_cast<std::int32_t>(scope->branches.size());
        if (scope != nullptr && token.branch >= branches)
            throw_corrupt("a token is in a branch that is not there");
        if (token.compensates != 0 && !program_.node(token.node).compensate) {
            throw_corrupt("a token compensates a step that has no compensation");
        }
    }
};

}  // namespace

std::string encode_state(const InstanceState& state, const Program& program) {
    return Writer(program).write(state);
}

InstanceState decode_state(std::string_view text, const Program& program) {
    try {
        return Reader(program).read(Json::parse(text));
    } catch (const Json::exception& error) {
        throw_corrupt(error.what());
    }
}

}  // namespace ebb
