// Plain sentences about what an instance waits for, and why it is in its present state.

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "engine/view.h"
#include "support/clock.h"
#include "support/json.h"

namespace ebb::engine {

namespace {

/// A date in a sentence: to the second.
std::string date_text(TimePoint time) {
    return format_time(std::chrono::floor<std::chrono::seconds>(time));
}

const TaskRow* row_of(const Facts& facts, TokenId token) {
    const auto found =
        std::find_if(facts.tasks.begin(), facts.tasks.end(), [token](const TaskRow& row) {
            return row.task.token == token;
        });
    return found == facts.tasks.end() ? nullptr : &*found;
}

bool contains(const std::vector<std::string>& names, const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
}

/// Does a process of Ebb live, which decides what workers in SQL only hand in?
bool has_keeper(const Facts& facts) {
    return std::any_of(facts.workers.begin(), facts.workers.end(), [&](const WorkerRow& worker) {
        return worker.is_keeper && worker.expires_at > facts.now;
    });
}

/// What is due now and no handler does: a timer, an outcome that was handed in, mail.
bool has_work_of_keeper(const Facts& facts) {
    return std::any_of(facts.tasks.begin(), facts.tasks.end(), [&](const TaskRow& row) {
        return row.handler.empty() && row.lease_owner.empty() && !row.is_parked &&
               row.due <= facts.now;
    });
}

bool lacks_keeper(const Facts& facts) {
    return has_work_of_keeper(facts) && !has_keeper(facts);
}

bool can_anybody_run(const Facts& facts, const std::string& handler, const std::string& queue) {
    return std::any_of(facts.workers.begin(), facts.workers.end(), [&](const WorkerRow& worker) {
        return worker.expires_at > facts.now && contains(worker.handlers, handler) &&
               (worker.queues.empty() || contains(worker.queues, queue));
    });
}

bool is_left_alone(const Facts& facts, const TaskRow& row) {
    return left_alone_since(facts.program, facts.row, facts.state, row, facts.now).has_value();
}

/// Ends a sentence whose last words may be a message from outside, which often is already a
/// sentence.
std::string end_sentence(std::string text) {
    const bool has_ended =
        !text.empty() && std::string_view(".!?").find(text.back()) != std::string_view::npos;
    if (!has_ended) text += '.';
    return text;
}

/// ` by NAME (REASON)` of a person's request, without missing parts.
std::string describe_request(const Facts& facts, const Payload& payload) {
    const Json request = Json::parse(payload, nullptr, false);
    if (!request.is_object()) return {};
    const std::string by = request.value("by", "");
    const Json visible = Json::parse(facts.visible(payload), nullptr, false);
    const std::string reason = visible.is_object() ? visible.value("reason", "") : "";
    std::string text = by.empty() ? "" : " by " + by;
    if (!reason.empty()) text += " (" + reason + ")";
    return text;
}

/// The newest failed attempt of a visit; null when none failed.
const HistoryEvent* last_failure(const Facts& facts, Visit visit) {
    const auto found =
        std::find_if(facts.history.rbegin(), facts.history.rend(), [visit](const HistoryEvent& e) {
            return e.visit == visit && (e.type == HistoryType::StepRetried ||
                                        e.type == HistoryType::CompensationRetried);
        });
    return found == facts.history.rend() ? nullptr : &*found;
}

/// "step" or "the compensation of step", with its name.
std::string place_of(const Facts& facts, const Token& token) {
    return fmt::format(
        "{} \"{}\"",
        token.compensates != 0 ? "the compensation of step" : "step",
        facts.program.node(token.node).name
    );
}

const std::string& handler_of(const ProgramNode& node, const Token& token) {
    return token.compensates != 0 && node.compensate ? node.compensate->handler : node.handler;
}

std::string capitalise(std::string text) {
    if (!text.empty() && text[0] >= 'a' && text[0] <= 'z')
        text[0] = static_cast<char>(text[0] - 32);
    return text;
}

/// `Step "a" runs the handler "a" in worker w1 (attempt 1).`, or what happened if that worker is
/// dead.
std::string describe_run(
    const Facts& facts, const Token& token, const TaskRow& row, bool has_heir
) {
    const ProgramNode& node = facts.program.node(token.node);
    const Holder holder = holder_of(facts, row);
    const bool is_alive = holder.life == Holder::Life::Alive;
    std::string text = fmt::format(
        "{} {} the handler \"{}\" in worker {} (attempt {}){}",
        place_of(facts, token),
        is_alive ? "runs" : "was running",
        handler_of(node, token),
        row.lease_owner,
        token.attempt,
        token.stopping ? " and was asked to stop" : ""
    );
    if (!is_alive) {
        const std::string end = holder.life == Holder::Life::Dead
                                    ? "is dead since " + date_text(holder.died_at)
                                    : "no longer exists";
        const std::string next = has_heir ? "a living worker takes it over"
                                          : fmt::format(
                                                "no living worker takes it over: none has the "
                                                "handler \"{}\" for the queue \"{}\"",
                                                handler_of(node, token),
                                                node.queue
                                            );
        text += fmt::format(", which {}; {}", end, next);
    }
    return capitalise(text + ".");
}

WaitingFor wait_of_handler(const Facts& facts, const Token& token) {
    const ProgramNode& node = facts.program.node(token.node);
    const std::string& handler = handler_of(node, token);
    WaitingFor wait{.kind = "handler", .node = node.name, .what = handler, .sentence = {}};
    const std::string place = place_of(facts, token);
    const TaskRow* row = row_of(facts, token.id);
    if (row != nullptr && !row->lease_owner.empty()) {
        const bool has_heir = can_anybody_run(facts, handler, node.queue);
        const bool is_alive = holder_of(facts, *row).life == Holder::Life::Alive;
        if (!is_alive && !has_heir) wait.kind = "worker";
        wait.sentence = describe_run(facts, token, *row, has_heir);
    } else if (token.stopping) {
        wait.sentence = capitalise(fmt::format("{} is being stopped.", place));
    } else if (row != nullptr && row->handler.empty()) {
        wait.kind = "worker";
        wait.sentence = capitalise(
            fmt::format("{} waits for a process of Ebb, which decides what comes next.", place)
        );
    } else if (!can_anybody_run(facts, handler, node.queue)) {
        wait.kind = "worker";
        wait.sentence = capitalise(fmt::format(
            "{} waits for a worker: no living worker has the handler \"{}\" for the queue \"{}\".",
            place,
            handler,
            node.queue
        ));
    } else if (row != nullptr && is_left_alone(facts, *row)) {
        wait.kind = "worker";
        wait.sentence = capitalise(fmt::format(
            "{} waits for a worker that may run the program of the handler \"{}\": only the "
            "database names it. Give a worker or the server the file of {} v{}, or --allow-exec.",
            place,
            handler,
            facts.row.workflow,
            facts.row.version
        ));
    } else if (const std::string queue = describe_queue_wait(facts, token.id); !queue.empty()) {
        wait.kind = "queue";
        wait.what = node.queue;
        wait.sentence = capitalise(fmt::format("{} waits for {}.", place, queue));
    } else {
        wait.sentence = capitalise(
            fmt::format("{} waits for a free worker with the handler \"{}\".", place, handler)
        );
    }
    return wait;
}

WaitingFor wait_of_retry(const Facts& facts, const Token& token) {
    if (token.due <= facts.now) return wait_of_handler(facts, token);
    const HistoryEvent* failure = last_failure(facts, token.visit);
    return {
        .kind = "retry",
        .node = facts.program.node(token.node).name,
        .what = facts.program.node(token.node).handler,
        .until = token.due,
        .sentence = end_sentence(capitalise(fmt::format(
            "{} is retried (attempt {}) at {}; the last attempt failed with {}",
            place_of(facts, token),
            token.attempt,
            date_text(token.due),
            failure == nullptr ? "unknown" : describe_failure(facts, failure->payload)
        ))),
    };
}

std::string until_text(TimePoint due) {
    return due == kNever ? std::string() : fmt::format(", until {} at the latest", date_text(due));
}

WaitingFor wait_of_decision(const Facts& facts, const Token& token) {
    const ProgramNode& node = facts.program.node(token.node);
    std::string who = node.human.roles.empty()
                          ? "anyone"
                          : fmt::format("the role {}", fmt::join(node.human.roles, " or "));
    std::string votes;
    if (node.human.quorum > 1) {
        votes = fmt::format(" ({} of {} have confirmed)", token.votes.size(), node.human.quorum);
    }
    return {
        .kind = "decision",
        .node = node.name,
        .what = node.name,
        .until = token.due,
        .sentence = fmt::format(
            "Decision \"{}\" waits for {} to confirm or reject{}{}.",
            node.name,
            who,
            votes,
            until_text(token.due)
        ),
    };
}

WaitingFor wait_of_branches(const Facts& facts, const Token& token) {
    const ProgramNode& node = facts.program.node(token.node);
    std::ptrdiff_t done = 0;
    for (const Scope& scope : facts.state.scopes) {
        if (scope.parent != token.id) continue;
        done = std::count_if(scope.branches.begin(), scope.branches.end(), [](const auto& branch) {
            return branch.status == BranchOutcome::Status::Completed;
        });
    }
    return {
        .kind = "branches",
        .node = node.name,
        .what = node.name,
        .sentence = fmt::format(
            "Block \"{}\" waits for its branches: {} of the {} that it needs have completed.",
            node.name,
            done,
            node.join
        ),
    };
}

WaitingFor wait_of_frozen(const Facts& facts, const Token& token) {
    const bool is_compensation = token.compensates != 0;
    const std::string remedy =
        is_compensation
            ? "requeue it, requeue it and skip the compensation, or abort the instance"
            : "requeue it (with a different input if necessary), or cancel or abort the instance";
    return {
        .kind = "operator",
        .node = facts.program.node(token.node).name,
        .what = "requeue",
        .sentence =
            capitalise(fmt::format("{} waits for an operator: {}.", place_of(facts, token), remedy)
            ),
    };
}

std::string wait_sentence(const ProgramNode& node, TimePoint due) {
    if (node.op == Op::Timer) {
        return fmt::format("Delay \"{}\" waits until {}.", node.name, date_text(due));
    }
    return fmt::format(
        "Transition \"{}\" fires if its condition stays true until {}.", node.name, date_text(due)
    );
}

WaitingFor wait_of(const Facts& facts, const Token& token) {
    const ProgramNode& node = facts.program.node(token.node);
    switch (token.status) {
        case TokenStatus::Ready:
            return wait_of_handler(facts, token);
        case TokenStatus::Retrying:
            return wait_of_retry(facts, token);
        case TokenStatus::WaitingTimer:
            return {
                .kind = "timer",
                .node = node.name,
                .what = node.name,
                .until = token.due,
                .sentence = wait_sentence(node, token.due),
            };
        case TokenStatus::WaitingDecision:
            return wait_of_decision(facts, token);
        case TokenStatus::WaitingSignal:
            return {
                .kind = "signal",
                .node = node.name,
                .what = node.signal,
                .until = token.due,
                .sentence = fmt::format(
                    "\"{}\" waits for the signal \"{}\"{}.",
                    node.name,
                    node.signal,
                    until_text(token.due)
                ),
            };
        case TokenStatus::Forked:
            return wait_of_branches(facts, token);
        case TokenStatus::Frozen:
            return wait_of_frozen(facts, token);
    }
    return {};
}

/// Of a node that is not a step. A `fail` node without a code of its own has the code `failed`.
std::string describe_node_failure(const Facts& facts, const HistoryEvent& event) {
    constexpr std::string_view kNoCode = "failed: ";
    const std::string failure = describe_failure(facts, event.payload);
    constexpr std::string_view kRejected = "rejected: The decision ";
    if (failure.starts_with(kNoCode)) return fmt::format("\"{}\" {}", event.node, failure);
    if (failure.starts_with(kRejected)) return "the decision " + failure.substr(kRejected.size());
    return fmt::format("\"{}\" failed with {}", event.node, failure);
}

/// `ann takes it back to the write 4`.
std::string describe_recovery(const Payload& request) {
    const Json json = Json::parse(request, nullptr, false);
    const std::string by = json.is_object() ? json.value("by", "") : "";
    const std::int64_t to = json.is_object() ? json.value("to", std::int64_t{0}) : 0;
    return fmt::format("{} takes it back to the write {}", by.empty() ? "an operator" : by, to);
}

/// What caused the instance's trouble, as half a sentence.
std::string cause_of(const Facts& facts) {
    const HistoryEvent* event = find_event(facts, facts.state.error);
    if (event == nullptr) return {};
    switch (event->type) {
        case HistoryType::CancelRequested:
            return "it was cancelled" + describe_request(facts, event->payload);
        case HistoryType::AbortRequested:
            return "it was aborted" + describe_request(facts, event->payload);
        case HistoryType::ExceptionRaised:
            return "of the exception " + describe_failure(facts, event->payload);
        case HistoryType::RecoverRequested:
            return describe_recovery(event->payload);
        case HistoryType::CompensationFailed:
            return fmt::format(
                "the compensation of step \"{}\" failed for good after {} attempt{} with {}",
                event->node,
                event->attempt,
                event->attempt == 1 ? "" : "s",
                describe_failure(facts, event->payload)
            );
        default:
            if (event->node.empty()) return describe_failure(facts, event->payload);
            if (event->attempt == 0) return describe_node_failure(facts, *event);
            return fmt::format(
                "step \"{}\" failed for good after {} attempt{} with {}",
                event->node,
                event->attempt,
                event->attempt == 1 ? "" : "s",
                describe_failure(facts, event->payload)
            );
    }
}

/// ` by NAME (REASON)` of the request that ended the instance.
std::string request_text(const Facts& facts) {
    const HistoryEvent* event = find_event(facts, facts.state.error);
    return event == nullptr ? std::string() : describe_request(facts, event->payload);
}

/// ` at TIME by NAME (REASON)` of the pause that holds the instance.
std::string pause_text(const Facts& facts) {
    const auto found =
        std::find_if(facts.history.rbegin(), facts.history.rend(), [](const HistoryEvent& event) {
            return event.type == HistoryType::Paused;
        });
    if (found == facts.history.rend()) return {};
    return " at " + date_text(found->at) + describe_request(facts, found->payload);
}

/// The exception that an instance with rules is in; null = none, or not known here.
const HistoryEvent* exception_of(const Facts& facts) {
    return facts.state.rules && facts.state.rules->exception != 0
               ? find_event(facts, facts.state.rules->exception)
               : nullptr;
}

std::string introduction(const Facts& facts) {
    const std::string cause = cause_of(facts);
    const std::string because = cause.empty() ? std::string() : " because " + cause;
    const std::string at = date_text(facts.row.finished_at);
    switch (facts.state.status) {
        case InstanceStatus::Running:
            if (const HistoryEvent* exception = exception_of(facts)) {
                return end_sentence(
                    "The instance is running, to end the exception " +
                    describe_failure(facts, exception->payload)
                );
            }
            return "The instance is running.";
        case InstanceStatus::Paused:
            return fmt::format(
                "The instance was paused{}; resume it to continue.", pause_text(facts)
            );
        case InstanceStatus::Compensating:
            return end_sentence("The instance is compensating" + because);
        case InstanceStatus::DeadLetter:
            return end_sentence("The instance is dead-lettered" + because);
        case InstanceStatus::Moved:
            return "The instance was moved: it continues elsewhere, from its snapshot.";
        case InstanceStatus::Completed:
            return fmt::format("The instance completed at {}.", at);
        case InstanceStatus::Failed:
            return end_sentence("The instance failed at " + at + because);
        case InstanceStatus::Cancelled:
            return end_sentence("The instance was cancelled at " + at + request_text(facts));
        case InstanceStatus::Aborted:
            return end_sentence("The instance was aborted at " + at + request_text(facts));
    }
    return {};
}

bool is_in_exception(const Facts& facts) {
    return facts.state.rules && facts.state.rules->exception != 0 &&
           facts.state.status == InstanceStatus::DeadLetter;
}

/// An operator has recovered it and wants to look at it first. Its attributes are valid.
bool is_recovered(const Facts& facts) {
    const HistoryEvent* exception = exception_of(facts);
    if (exception == nullptr) return false;
    const Json json = Json::parse(exception->payload, nullptr, false);
    return json.is_object() && json.value("code", "") == "recovered";
}

WaitingFor wait_in_exception(const Facts& facts) {
    const bool may_go_on = is_recovered(facts);
    return {
        .kind = "operator",
        .node = {},
        .what = may_go_on ? "rematch" : "write",
        .sentence =
            may_go_on
                ? "An operator must let it continue with the attributes that it has (ebb rematch), "
                  "change them first (ebb write --repair), cancel or abort it."
                : "An operator must change its attributes (ebb write, with --repair for those that "
                  "no application writes), cancel or abort it.",
    };
}

/// Nothing is pending, and the rules say `on_idle: wait`.
bool waits_for_write(const Facts& facts) {
    return facts.state.rules && facts.state.tokens.empty() && facts.state.rules->exception == 0 &&
           facts.state.status == InstanceStatus::Running;
}

WaitingFor wait_for_keeper() {
    return {
        .kind = "worker",
        .node = {},
        .what = {},
        .sentence =
            "Something is due (a timer, the end of a step, or a request), and no living process of "
            "Ebb can process it: start `ebb worker`.",
    };
}

WaitingFor wait_for_write() {
    return {
        .kind = "write",
        .node = {},
        .what = "write",
        .sentence = "Nothing is pending: it waits for a write of its attributes (ebb write).",
    };
}

}  // namespace

bool is_program(const Definition& definition, const std::string& handler) {
    const auto found = definition.handlers.find(handler);
    if (found == definition.handlers.end()) return false;
    const Json spec = Json::parse(found->second, nullptr, false);
    return !spec.is_object() || spec.contains("exec") || !spec.contains("http");
}

std::optional<TimePoint> left_alone_since(
    const Program& program,
    const InstanceRow& row,
    const InstanceState& state,
    const TaskRow& task,
    TimePoint now
) {
    const Token* token = state.find_token(task.task.token);
    const bool is_free = token != nullptr && task.lease_owner.empty() && !task.is_parked &&
                         is_program(program.definition(), task.handler);
    if (!is_free) return std::nullopt;
    const bool is_retry = token->status == TokenStatus::Retrying;
    if (!is_retry && token->status != TokenStatus::Ready) return std::nullopt;
    // A worker that leaves a task alone puts its date off. Nothing else does that to a handler's
    // task between two changes of the instance.
    const TimePoint since = is_retry ? std::max(token->due, row.updated_at) : row.updated_at;
    if (since > now || task.due < since + kLeftAlone) return std::nullopt;
    return since;
}

std::string describe_failure(const Payload& failure) {
    const Json error = Json::parse(failure, nullptr, false);
    if (!error.is_object()) return "unknown";
    const std::string code = error.value("code", "error");
    const std::string message = error.value("message", "");
    return message.empty() ? code : fmt::format("{}: {}", code, message);
}

std::string describe_failure(const Facts& facts, const Payload& failure) {
    const Payload visible = facts.visible(failure);
    return describe_failure(visible.empty() ? without_message(failure) : visible);
}

Payload without_message(const Payload& failure) {
    const Json error = Json::parse(failure, nullptr, false);
    const auto code = error.is_object() ? error.find("code") : error.end();
    return Json{{"code", code != error.end() ? *code : Json("unknown")}}.dump();
}

std::vector<WaitingFor> waiting_for(const Facts& facts) {
    std::vector<WaitingFor> waits;
    if (facts.state.status == InstanceStatus::Paused) {
        waits.push_back({
            .kind = "operator",
            .node = {},
            .what = "resume",
            .sentence = fmt::format(
                "The instance was paused{} and waits for an operator to resume it.",
                pause_text(facts)
            ),
        });
    }
    if (facts.state.status == InstanceStatus::Moved) {
        waits.push_back({
            .kind = "snapshot",
            .node = {},
            .what = "import",
            .sentence = "The instance was moved: it continues elsewhere, from its snapshot.",
        });
        return waits;
    }
    for (const Token& token : facts.state.tokens) waits.push_back(wait_of(facts, token));
    if (is_in_exception(facts)) waits.push_back(wait_in_exception(facts));
    if (waits_for_write(facts)) waits.push_back(wait_for_write());
    if (lacks_keeper(facts)) waits.push_back(wait_for_keeper());
    return waits;
}

std::string why(const Facts& facts) {
    std::string text = introduction(facts);
    if (facts.state.status == InstanceStatus::Moved) return text;
    if (facts.state.last_seq == 0) {
        text += " It was started in SQL and has not begun: a process of Ebb begins it.";
        return lacks_keeper(facts) ? text + " " + wait_for_keeper().sentence : text;
    }
    for (const Token& token : facts.state.tokens) {
        // The branches have their own sentences.
        if (token.status == TokenStatus::Forked) continue;
        text += ' ';
        text += wait_of(facts, token).sentence;
    }
    if (is_in_exception(facts)) text += " " + wait_in_exception(facts).sentence;
    if (waits_for_write(facts)) text += " " + wait_for_write().sentence;
    if (lacks_keeper(facts)) text += " " + wait_for_keeper().sentence;
    return text + describe_rules(facts);
}

}  // namespace ebb::engine
