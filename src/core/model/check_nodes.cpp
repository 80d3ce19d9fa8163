#include "core/model/check_nodes.h"

#include <algorithm>
#include <array>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "core/model/words.h"
#include "support/clock.h"

namespace ebb::model {

namespace {

constexpr std::size_t kMessageBytesMax = std::size_t{16} << 10;

/// These words could not be read as `steps.<name>` in an expression.
constexpr std::array<std::string_view, 4> kReservedNames = {"true", "false", "null", "in"};

}  // namespace

void NodeChecker::check(int number) {
    number_ = number;
    path_ = here().path;
    check_own_name();
    check_text(
        findings_,
        path_ + "/description",
        here().node->description,
        DefinitionLimits::kDescriptionBytesMax
    );
    check_metadata("metadata", here().node->metadata);
    std::visit([this](const auto& kind) { check_kind(kind); }, here().node->kind);
    if (!is_in_graph()) check_reachable();
}

void NodeChecker::note(std::string code, std::string_view key, std::string message) {
    std::string path = path_;
    if (!key.empty()) path.append("/").append(key);
    findings_.note(std::move(code), std::move(path), std::move(message));
}

void NodeChecker::check_own_name() {
    const Node& node = *here().node;
    const std::string key(kind_name(node));
    check_name(findings_, path_ + "/" + key, key, node.name);
    if (std::find(kReservedNames.begin(), kReservedNames.end(), node.name) !=
        kReservedNames.end()) {
        note(
            "reserved_name",
            key,
            fmt::format(
                "\"{0}\" is a word of the expression language, so steps.{0} could not be read: "
                "choose another name for the {1}.",
                node.name,
                key
            )
        );
    }
    if (node.name.empty() || names_.insert(node.name).second) return;
    const Placed& first = walk_.at(walk_.find(node.name));
    Diagnostic problem{
        .code = "duplicate_name",
        .path = path_ + "/" + key,
        .message = fmt::format(
            "The name {} is already taken by the node at {}: names are unique in a workflow, since "
            "steps.<name> reads them. A step with another name can run the same handler by "
            "`handler:`.",
            in_quotes(node.name),
            first.path
        ),
    };
    problem.related.push_back(
        {.message = fmt::format("The first node {} is here.", in_quotes(node.name)),
         .path = first.path + "/" + std::string(kind_name(*first.node))}
    );
    findings_.note({.diagnostic = std::move(problem)});
}

void NodeChecker::check_reachable() {
    if (here().index == 0) return;
    // Siblings before it are between it and its parent in the list.
    int before = number_ - 1;
    while (walk_.at(before).depth > here().depth) before = walk_.at(before).parent;
    if (!always_fails(*walk_.at(before).node)) return;
    const Node& failing = *walk_.at(before).node;
    Diagnostic problem{
        .code = "unreachable",
        .path = path_,
        .message = fmt::format(
            "This is never reached, since \"{}\" before it always fails: remove it, or let the "
            "failure depend on a condition.",
            failing.name
        ),
    };
    problem.related.push_back(
        {.message = fmt::format("The node {} always fails.", in_quotes(failing.name)),
         .path = walk_.at(before).path + "/" + std::string(kind_name(failing))}
    );
    findings_.note({.diagnostic = std::move(problem)});
}

void NodeChecker::check_range(
    std::string_view key, std::int64_t value, std::int64_t least, std::int64_t most
) {
    if (value >= least && value <= most) return;
    note(
        "out_of_range",
        key,
        fmt::format("\"{}\" is {}; it must be from {} to {}.", key, value, least, most)
    );
}

void NodeChecker::check_deadline(Duration deadline, bool has_outcome) {
    check_duration(findings_, path_ + "/deadline", deadline);
    if (deadline != Duration::zero() || !has_outcome) return;
    note(
        "deadline_missing",
        "on_deadline",
        "\"on_deadline\" says what happens at a deadline, but there is none: add \"deadline\"."
    );
}

void NodeChecker::check_kind(const Step& step) {
    if (!step.handler.empty()) {
        check_outside_name(findings_, path_ + "/handler", "handler", step.handler);
    }
    expressions_.payload(number_, path_ + "/input", step.input);
    if (step.compensate) {
        const std::string path = path_ + "/compensate";
        check_outside_name(
            findings_, path + "/handler", "compensation's handler", step.compensate->handler
        );
        check_attempts(findings_, path, step.compensate->attempts);
    }
    check_attempts(findings_, path_, step.attempts);
    if (step.non_idempotent && step.attempts.max_attempts > 1) {
        note(
            "non_idempotent_attempts",
            "max_attempts",
            fmt::format(
                "A non_idempotent step is called exactly once, so \"max_attempts\" cannot be {}: "
                "set it to 1 (in YAML and JSON: leave it out).",
                step.attempts.max_attempts
            )
        );
    }
    check_queue(findings_, path_, step.queue);
    if (!step.concurrency_key.empty()) {
        expressions_.value(number_, path_ + "/concurrency_key", step.concurrency_key);
    }
    if (step.next.empty()) return;
    expressions_.handle(number_, path_ + "/next", step.next);
    if (is_in_graph()) return;
    note(
        "next_outside_graph",
        "next",
        "\"next\" chooses one of a graph's edges, but this step is not a node of a graph: put it "
        "into one, or use a condition or switch after it."
    );
}

void NodeChecker::check_kind(const Condition& condition) {
    const auto value = expressions_.condition(number_, path_ + "/when", condition.when);
    if (value) {
        note(
            "constant_condition",
            "when",
            fmt::format(
                "The condition is always {}: put the nodes of \"{}\" in its place, or let it read "
                "something.",
                *value,
                *value ? "then" : "else"
            )
        );
    }
    if (condition.then.empty() && condition.otherwise.empty() && !is_in_graph()) {
        note(
            "empty_block",
            "then",
            "Both sides of the condition are empty: give it a \"then\" or an \"else\", or remove "
            "it."
        );
    }
}

void NodeChecker::check_kind(const Switch& choice) {
    if (choice.cases.empty()) {
        note("empty_block", "cases", "A switch needs at least one case.");
    }
    if (choice.cases.size() > DefinitionLimits::kBranchesMax) {
        note(
            "too_many_branches",
            "cases",
            fmt::format(
                "The switch has {} cases; at most {} are allowed.",
                choice.cases.size(),
                DefinitionLimits::kBranchesMax
            )
        );
        return;
    }
    bool is_decided = false;
    for (std::size_t i = 0; i < choice.cases.size(); ++i) {
        const std::string key = fmt::format("cases/{}", i);
        if (is_decided) {
            note(
                "unreachable", key, "This case is never reached: the one before it is always true."
            );
            return;
        }
        const auto value =
            expressions_.condition(number_, path_ + "/" + key + "/when", choice.cases[i].when);
        if (value && !*value) {
            note("constant_condition", key + "/when", "This case is never true: remove it.");
        }
        is_decided = value.value_or(false);
    }
    if (!is_decided) return;
    if (!choice.otherwise.empty()) {
        note(
            "unreachable", "default", "The default is never reached: the last case is always true."
        );
    } else {
        note(
            "constant_condition",
            fmt::format("cases/{}/when", choice.cases.size() - 1),
            "This case is always true: make it the \"default\"."
        );
    }
}

void NodeChecker::check_kind(const Parallel& parallel) {
    if (parallel.branches.size() < 2) {
        note(
            "too_few_branches",
            "branches",
            fmt::format(
                "A parallel block needs at least two branches, but has {}: add one, or put its "
                "nodes in its place.",
                parallel.branches.size()
            )
        );
    }
    if (parallel.branches.size() > DefinitionLimits::kBranchesMax) {
        note(
            "too_many_branches",
            "branches",
            fmt::format(
                "The parallel block has {} branches; at most {} are allowed.",
                parallel.branches.size(),
                DefinitionLimits::kBranchesMax
            )
        );
        return;
    }
    check_branches(parallel);
    const auto count = static_cast<std::int64_t>(parallel.branches.size());
    if (parallel.join < 0 || (parallel.join > count && count > 1)) {
        note(
            "impossible_join",
            "join",
            fmt::format(
                "\"join\" waits for {} branches, but there are {}: use all, any, or a number from "
                "1 to {}.",
                parallel.join,
                count,
                count
            )
        );
    }
}

void NodeChecker::check_branches(const Parallel& parallel) {
    std::set<std::string_view> seen;
    for (std::size_t i = 0; i < parallel.branches.size(); ++i) {
        const Parallel::Branch& branch = parallel.branches[i];
        const std::string key = fmt::format("branches/{}/branch", i);
        check_name(findings_, path_ + "/" + key, "branch", branch.name);
        if (!seen.insert(branch.name).second && !branch.name.empty()) {
            note(
                "duplicate_name",
                key,
                fmt::format(
                    "The parallel block has another branch {}: their names are the keys of its "
                    "output.",
                    in_quotes(branch.name)
                )
            );
        }
        if (branch.steps.empty()) {
            note(
                "empty_block",
                fmt::format("branches/{}/do", i),
                fmt::format(
                    "The branch {} is empty: give it nodes or remove it.", in_quotes(branch.name)
                )
            );
        }
    }
}

void NodeChecker::check_kind(const Loop& loop) {
    const bool is_while = !loop.while_expression.empty();
    const bool is_until = !loop.until_expression.empty();
    if (is_while == is_until) {
        note(
            "loop_condition",
            is_while ? "until" : "",
            is_while ? "A loop has either \"while\" (asked before each turn) or \"until\" (asked "
                       "after it), not both."
                     : "A loop needs \"while\" (asked before each turn) or \"until\" (asked after "
                       "it)."
        );
    }
    const std::string key = is_while ? "while" : "until";
    const std::string& source = is_while ? loop.while_expression : loop.until_expression;
    const auto value =
        source.empty() ? std::nullopt : expressions_.condition(number_, path_ + "/" + key, source);
    if (value) {
        const bool is_endless = *value == is_while;
        note(
            "constant_condition",
            key,
            fmt::format(
                "The loop's condition is always {}, so it {}: let it read something that a turn "
                "changes.",
                *value,
                is_endless ? "never ends"
                : is_while ? "never runs"
                           : "runs just once"
            )
        );
    }
    if (loop.steps.empty()) {
        note("empty_block", "do", "The loop repeats nothing: give it nodes.");
    }
    check_range("max_iterations", loop.max_iterations, 1, DefinitionLimits::kIterationsMax);
}

void NodeChecker::check_kind(const Delay& delay) {
    if (delay.duration.empty() == delay.until.empty()) {
        note(
            "delay_time",
            "",
            delay.until.empty()
                ? "A delay needs \"for\" (a duration) or \"until\" (a time), as in {delay: pause, "
                  "for: 5s}."
                : "A delay has either \"for\" (a duration) or \"until\" (a time), not both."
        );
        return;
    }
    const std::string key = delay.until.empty() ? "for" : "until";
    const std::string& text = delay.until.empty() ? delay.duration : delay.until;
    if (expressions_.text(number_, path_ + "/" + key, text)) check_constant_time(key, text);
}

void NodeChecker::check_constant_time(std::string_view key, const std::string& text) {
    if (key == "until") {
        if (parse_time(text)) return;
        note(
            "invalid_time",
            key,
            fmt::format(
                "{} is not a time: write it as 2026-01-31T08:00:00Z (RFC 3339), or as "
                "${{expression}}.",
                in_quotes(text)
            )
        );
        return;
    }
    if (const auto duration = parse_duration(text)) {
        return check_duration(findings_, path_ + "/for", *duration);
    }
    note(
        "invalid_duration",
        key,
        fmt::format(
            "{} is not a duration: write it as 100ms, 90s, 1h30m or 2d, or as ${{expression}}.",
            in_quotes(text)
        )
    );
}

void NodeChecker::check_kind(const HumanDecision& decision) {
    check_range("quorum", decision.quorum, 1, DefinitionLimits::kQuorumMax);
    check_roles(decision);
    check_deadline(decision.deadline, decision.on_deadline != HumanDecision::OnDeadline::Fail);
}

void NodeChecker::check_roles(const HumanDecision& decision) {
    if (decision.roles.size() > DefinitionLimits::kRolesMax) {
        note(
            "too_many_roles",
            "roles",
            fmt::format(
                "The decision has {} roles; at most {} are allowed.",
                decision.roles.size(),
                DefinitionLimits::kRolesMax
            )
        );
        return;
    }
    std::set<std::string_view> seen;
    for (std::size_t i = 0; i < decision.roles.size(); ++i) {
        const std::string key = fmt::format("roles/{}", i);
        check_outside_name(findings_, path_ + "/" + key, "role", decision.roles[i]);
        if (seen.insert(decision.roles[i]).second) continue;
        note(
            "duplicate_name",
            key,
            fmt::format("The role {} is given twice.", in_quotes(decision.roles[i]))
        );
    }
}

void NodeChecker::check_kind(const Signal& signal) {
    if (!signal.signal.empty()) {
        check_outside_name(findings_, path_ + "/name", "signal", signal.signal);
    }
    check_deadline(signal.deadline, signal.on_deadline != Signal::OnDeadline::Fail);
    if (signal.schema.empty()) return;
    check_schema_text(findings_, path_ + "/schema", signal.schema);
    // An early signal arrives before anything waits for it, so that the schema is the signal's.
    const std::string_view name = signal.signal.empty() ? here().node->name : signal.signal;
    const auto [other, is_first] = signal_schemas_.emplace(name, here().node);
    if (is_first || std::get<Signal>(other->second->kind).schema == signal.schema) return;
    note(
        "different_schemas",
        "schema",
        fmt::format(
            "The signal {} has another schema at the node {}. Nodes that wait for the same signal "
            "have the same schema, or none.",
            in_quotes(name),
            in_quotes(other->second->name)
        )
    );
}

bool NodeChecker::runs_anything_after() const {
    for (int number = number_; number >= 0; number = walk_.at(number).parent) {
        const Placed& placed = walk_.at(number);
        if (!placed.is_last) return true;
        if (placed.parent < 0) break;
        if (walk_.is_a<Loop>(placed.parent) || walk_.is_a<NodeGraph>(placed.parent)) return true;
    }
    return false;
}

void NodeChecker::check_kind(const Sequence&) {
    if (here().parent < 0 && path_.starts_with("/rules/triggers/")) return;
    note("misplaced_sequence", "", "Only a trigger of a workflow with rules can run a sequence.");
}

void NodeChecker::check_kind(const Savepoint& savepoint) {
    if (path_.starts_with("/rules/")) {
        return note(
            "savepoint_in_rules",
            "",
            "A savepoint of a workflow with rules is a condition: write it under "
            "\"rules\", \"savepoints\"."
        );
    }
    const bool is_resumed = savepoint.on_rollback == Savepoint::OnRollback::Resume;
    if (walk_.is_in<Parallel>(here().parent)) {
        note(
            "savepoint_in_parallel",
            "",
            "A savepoint cannot be inside a parallel branch, since the other branches could not go "
            "back with it: put it before or after the parallel block."
        );
    } else if (is_resumed && !runs_anything_after()) {
        note(
            "savepoint_pointless",
            "on_rollback",
            "Nothing runs after this savepoint, so there is nothing to resume: move it before the "
            "nodes that must run again, or remove it."
        );
    }
    check_range("max_resumes", savepoint.max_resumes, 1, DefinitionLimits::kResumesMax);
    if (!is_resumed && savepoint.max_resumes != Savepoint{}.max_resumes) {
        note(
            "resume_missing",
            "max_resumes",
            "\"max_resumes\" has no effect without \"on_rollback: resume\"."
        );
    }
}

void NodeChecker::check_kind(const Fail& fail) {
    const std::string path = path_ + "/message";
    const std::size_t before = findings_.all().size();
    check_text(findings_, path, fail.message, kMessageBytesMax);
    if (findings_.all().size() == before) expressions_.text(number_, path, fail.message);
}

}  // namespace ebb::model
