#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/model/node_kinds.h"
#include "core/model/reader.h"

namespace ebb::model {

namespace {

/// One node that is being read.
struct NodeReader {
    MapReader map;
    std::string_view kind;
    const std::string& name;
    const StepDefaults& defaults;

    void allow_only(std::vector<std::string_view> keys) const {
        keys.insert(keys.begin(), {kind, "description", "metadata"});
        if (kind != "step" && map.has("compensate")) {
            keys.push_back("compensate");
            map.note(
                "compensation_of_nothing",
                "compensate",
                fmt::format(
                    "A {} node has no effect to undo, so it cannot have a compensation: add it to "
                    "the step whose effect must be undone.",
                    kind
                )
            );
        }
        map.allow_only(keys);
    }

    Block block(std::string_view key) const { return read_block(map, key, defaults); }
};

}  // namespace

namespace {

std::optional<Compensation> read_compensation(
    const MapReader& outer, const StepDefaults& defaults
) {
    const Document* value = outer.find("compensate");
    if (value == nullptr) return std::nullopt;
    if (value->is_text()) {
        const std::string handler = outer.text("compensate");
        return Compensation{.handler = handler, .attempts = defaults.attempts_of(handler)};
    }
    if (!value->is_map()) {
        outer.note(
            "wrong_type",
            "compensate",
            fmt::format(
                "\"compensate\" must be the name of a handler or a map with \"handler\", but here "
                "is {}.",
                describe(*value)
            )
        );
        return std::nullopt;
    }
    const std::string path = outer.path_of("compensate");
    const MapReader map(outer.problems(), *value, path);
    map.allow_only({"handler", "max_attempts", "max_retries", "backoff", "timeout", "step_timeout"}
    );
    map.require("handler", "it names what undoes the step");
    const std::string handler = map.text("handler");
    return Compensation{
        .handler = handler,
        .attempts = read_attempts(map, defaults.attempts_of(handler)),
    };
}

}  // namespace

Step read_step_fields(
    const MapReader& map,
    std::string_view handler_key,
    const std::string& name,
    const StepDefaults& defaults
) {
    Step step{
        .handler = map.text(handler_key),
        .input = map.payload("input"),
        .compensate = read_compensation(map, defaults),
        .attempts = {},
        .non_idempotent = map.boolean("non_idempotent", false),
        .queue = map.has("queue") ? map.text("queue") : defaults.queue,
        .concurrency_key = map.text("concurrency_key"),
        .next = map.text("next"),
    };
    const std::string& handler = step.handler.empty() ? name : step.handler;
    AttemptPolicy otherwise = defaults.attempts_of(handler);
    if (step.non_idempotent) otherwise.max_attempts = 1;
    step.attempts = read_attempts(map, otherwise);
    return step;
}

namespace {

Node::Kind read_step(const NodeReader& node) {
    node.allow_only(
        {"handler",
         "input",
         "compensate",
         "max_attempts",
         "max_retries",
         "backoff",
         "timeout",
         "step_timeout",
         "non_idempotent",
         "queue",
         "concurrency_key",
         "next"}
    );
    return read_step_fields(node.map, "handler", node.name, node.defaults);
}

Node::Kind read_condition(const NodeReader& node) {
    node.allow_only({"when", "then", "else"});
    node.map.require("when", "it is the expression that decides between `then` and `else`");
    return Condition{
        .when = node.map.expression("when"),
        .then = node.block("then"),
        .otherwise = node.block("else"),
    };
}

// What cannot be read at all leaves an empty one in its place, so that those after it keep their
// numbers; whatever is found wrong with it later is not reported.

Switch::Case read_case(const NodeReader& node, const Document& value, const std::string& path) {
    if (!value.is_map()) {
        node.map.problems().set_incomplete();
        node.map.problems().add(
            "wrong_type",
            path,
            value,
            fmt::format(
                "A case must be a map with \"when\" and \"do\", but here is {}.", describe(value)
            )
        );
        return {};
    }
    const MapReader map(node.map.problems(), value, path);
    map.allow_only({"when", "do"});
    map.require("when", "it says when this case is taken");
    return {.when = map.expression("when"), .steps = read_block(map, "do", node.defaults)};
}

Node::Kind read_switch(const NodeReader& node) {
    node.allow_only({"cases", "default"});
    node.map.require("cases", "it is the list of what there is to choose from");
    Switch choice;
    const Document* cases = node.map.find("cases");
    if (cases != nullptr && !cases->is_list()) {
        node.map.problems().set_incomplete();
        node.map.note(
            "wrong_type",
            "cases",
            fmt::format(
                "\"cases\" must be a list of {{when, do}}, but here is {}.", describe(*cases)
            )
        );
    } else if (cases != nullptr) {
        for (std::size_t i = 0; i < cases->elements.size(); ++i) {
            const std::string path = fmt::format("{}/{}", node.map.path_of("cases"), i);
            choice.cases.push_back(read_case(node, cases->elements[i], path));
        }
    }
    choice.otherwise = node.block("default");
    return choice;
}

Parallel::Branch read_branch(
    const NodeReader& node, const Document& value, const std::string& path
) {
    if (!value.is_map()) {
        node.map.problems().set_incomplete();
        node.map.problems().add(
            "wrong_type",
            path,
            value,
            fmt::format(
                "A branch in a list must be a map with \"branch\" and \"do\", but here is {}.",
                describe(value)
            )
        );
        return {};
    }
    const MapReader map(node.map.problems(), value, path);
    map.allow_only({"branch", "do"});
    map.require("branch", "it is the branch's name");
    return {.name = map.free_text("branch"), .steps = read_block(map, "do", node.defaults)};
}

std::vector<Parallel::Branch> read_branches(const NodeReader& node) {
    std::vector<Parallel::Branch> branches;
    const Document* value = node.map.find("branches");
    if (value == nullptr) return branches;
    const std::string path = node.map.path_of("branches");
    if (value->is_map()) {
        const MapReader map(node.map.problems(), *value, path);
        for (const Document::Member& member : value->members) {
            branches.push_back(
                {.name = member.key, .steps = read_block(map, member.key, node.defaults)}
            );
        }
        return branches;
    }
    if (!value->is_list()) {
        node.map.problems().set_incomplete();
        node.map.note(
            "wrong_type",
            "branches",
            fmt::format(
                "\"branches\" must be a map of names and blocks, but here is {}.", describe(*value)
            )
        );
    }
    for (std::size_t i = 0; i < value->elements.size(); ++i) {
        branches.push_back(read_branch(node, value->elements[i], fmt::format("{}/{}", path, i)));
    }
    return branches;
}

int read_join(const MapReader& map) {
    const Document* value = map.find("join");
    if (value == nullptr) return 0;
    if (value->is_text() && value->text() == "all") return 0;
    if (value->is_text() && value->text() == "any") return 1;
    if (value->type == Document::Type::Number && value->scalar.is_number_integer()) {
        const int join = map.small_integer("join", 0);
        if (join != 0) return join;
    }
    map.note(
        "impossible_join",
        "join",
        fmt::format(
            "\"join\" must be all, any or how many branches must complete (1 or more), but here is "
            "{}.",
            describe(*value)
        )
    );
    return 0;
}

Node::Kind read_parallel(const NodeReader& node) {
    node.allow_only({"branches", "join", "losers"});
    node.map.require("branches", "it names what runs side by side");
    return Parallel{
        .branches = read_branches(node),
        .join = read_join(node.map),
        .losers = node.map.word("losers", kLosersWords, Parallel{}.losers),
    };
}

Node::Kind read_loop(const NodeReader& node) {
    node.allow_only({"while", "until", "do", "max_iterations"});
    return Loop{
        .while_expression = node.map.expression("while"),
        .until_expression = node.map.expression("until"),
        .steps = node.block("do"),
        .max_iterations = node.map.integer("max_iterations", Loop{}.max_iterations),
    };
}

Node::Kind read_delay(const NodeReader& node) {
    node.allow_only({"for", "until"});
    const Document* duration = node.map.find("for");
    const bool is_zero = duration != nullptr && duration->scalar == Json(0);
    return Delay{
        .duration = is_zero ? "0" : node.map.text("for"),
        .until = node.map.text("until"),
    };
}

Node::Kind read_decision(const NodeReader& node) {
    node.allow_only({"quorum", "roles", "deadline", "on_deadline", "on_reject"});
    HumanDecision decision{
        .quorum = node.map.small_integer("quorum", HumanDecision{}.quorum),
        .roles = node.map.texts("roles"),
        .deadline = node.map.duration("deadline", Duration(0)),
        .on_deadline =
            node.map.word("on_deadline", kDecisionDeadlineWords, HumanDecision{}.on_deadline),
        .on_reject = std::nullopt,
    };
    if (node.map.has("on_reject")) decision.on_reject = node.block("on_reject");
    return decision;
}

Node::Kind read_signal(const NodeReader& node) {
    node.allow_only({"name", "deadline", "on_deadline", "schema"});
    return Signal{
        .signal = node.map.text("name"),
        .deadline = node.map.duration("deadline", Duration(0)),
        .on_deadline = node.map.word("on_deadline", kSignalDeadlineWords, Signal{}.on_deadline),
        .schema = node.map.payload("schema"),
    };
}

Node::Kind read_savepoint(const NodeReader& node) {
    node.allow_only({"on_rollback", "max_resumes"});
    return Savepoint{
        .on_rollback = node.map.word("on_rollback", kRollbackWords, Savepoint{}.on_rollback),
        .max_resumes = node.map.small_integer("max_resumes", Savepoint{}.max_resumes),
    };
}

Node::Kind read_fail(const NodeReader& node) {
    node.allow_only({"message"});
    return Fail{.message = node.map.free_text("message")};
}

Node::Kind read_graph_node(const NodeReader& node) {
    node.allow_only({"entry", "nodes", "edges", "unmatched"});
    node.map.require("nodes", "it is the list of what the edges join");
    return read_graph(node.map, node.defaults);
}

Node::Kind read_kind(const NodeReader& node) {
    // In the order of kNodeKinds.
    static constexpr std::array<Node::Kind (*)(const NodeReader&), kNodeKinds.size()> kReaders = {
        read_step,
        read_condition,
        read_switch,
        read_parallel,
        read_loop,
        read_delay,
        read_decision,
        read_signal,
        read_savepoint,
        read_fail,
        read_graph_node,
    };
    const auto found = std::find(kNodeKinds.begin(), kNodeKinds.end(), node.kind);
    return kReaders[static_cast<std::size_t>(found - kNodeKinds.begin())](node);
}

/// A sentence about a key that is almost the name of a kind; empty if there is none.
std::string meant_kind(const Document& map) {
    for (const Document::Member& member : map.members) {
        const auto near = closest(member.key, kNodeKinds);
        if (near.empty()) continue;
        return fmt::format(" Did you mean \"{}\" instead of {}?", near, in_quotes(member.key));
    }
    return {};
}

/// The key that says what the node is; empty when there is none or more than one, which is noted.
std::string_view find_kind(const MapReader& map) {
    std::vector<std::string_view> found;
    for (const Document::Member& member : map.map().members) {
        const auto kind = std::find(kNodeKinds.begin(), kNodeKinds.end(), member.key);
        if (kind != kNodeKinds.end()) found.push_back(*kind);
    }
    if (found.size() == 1) return found.front();
    map.problems().set_incomplete();
    if (found.empty()) {
        map.problems().add(
            "missing_kind",
            map.path(),
            map.map(),
            fmt::format(
                "A node needs a key that says what it is: {}.{}",
                fmt::join(kNodeKinds, ", "),
                meant_kind(map.map())
            )
        );
    } else {
        map.problems().add(
            "ambiguous_kind",
            map.path(),
            map.map(),
            fmt::format(
                "A node is one thing, but this one has the keys {}: make each of them a node of "
                "its own.",
                fmt::join(found, ", ")
            )
        );
    }
    return {};
}

Node read_node(
    Problems& problems, const Document& value, const std::string& path, const StepDefaults& defaults
) {
    if (value.is_text()) {
        const Step step{.attempts = defaults.attempts_of(value.text()), .queue = defaults.queue};
        return {.name = value.text(), .description = {}, .kind = step};
    }
    if (!value.is_map()) {
        problems.set_incomplete();
        problems.add(
            "wrong_type",
            path,
            value,
            fmt::format(
                "A node must be a map such as `step: pay`, or a step's name, but here is {}.",
                describe(value)
            )
        );
        return {};
    }
    const MapReader map(problems, value, path);
    const std::string_view kind = find_kind(map);
    if (kind.empty()) return {};
    if (!map.find(kind)->is_text()) problems.set_incomplete();
    Node node{
        .name = map.free_text(kind),
        .description = map.free_text("description"),
        .kind = {},
        .metadata = map.payload("metadata"),
    };
    node.kind = read_kind({map, kind, node.name, defaults});
    return node;
}

}  // namespace

Block read_block(const MapReader& map, std::string_view key, const StepDefaults& defaults) {
    Block block;
    const Document* value = map.find(key);
    if (value == nullptr) return block;
    if (!value->is_list()) {
        map.problems().set_incomplete();
        map.note(
            "wrong_type",
            key,
            fmt::format(
                "{} must be a list of nodes, each after a `-`, but here is {}.",
                in_quotes(key),
                describe(*value)
            )
        );
        return block;
    }
    const std::string path = map.path_of(key);
    for (std::size_t i = 0; i < value->elements.size(); ++i) {
        const std::string place = fmt::format("{}/{}", path, i);
        block.push_back(read_node(map.problems(), value->elements[i], place, defaults));
    }
    return block;
}

}  // namespace ebb::model
