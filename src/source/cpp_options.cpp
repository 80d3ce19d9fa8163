// The calls that say more about a node or about the workflow.

#include <utility>

#include "source/cpp_calls.h"

namespace ebb::source {

using enum CppBuilder::Kind;

void CppCalls::set_about(CppCall& call) {
    const bool is_metadata = call.name == "metadata";
    if (is(call, Block) || (is_metadata && is(call, Workflow))) return refuse(call);
    if (is_metadata) {
        as<NodeBuilder>(call).metadata(json_argument(call, 0, "/metadata"));
        return;
    }
    std::string about = argument(call, 0, "/description");
    if (is(call, Workflow)) {
        as<WorkflowBuilder>(call).description(std::move(about));
    } else {
        as<NodeBuilder>(call).description(std::move(about));
    }
}

void CppCalls::set_step_text(CppCall& call) {
    if (!is(call, Step)) return refuse(call);
    auto& step = as<StepBuilder>(call);
    if (call.name == "input") {
        step.input(json_argument(call, 0, "/input"));
        return;
    }
    std::string text = argument(call, 0, "/" + std::string(call.name));
    if (call.name == "handler") {
        step.handler(std::move(text));
    } else if (call.name == "queue") {
        step.queue(std::move(text));
    } else if (call.name == "concurrency_key") {
        step.concurrency_key(std::move(text));
    } else {
        step.next(std::move(text));
    }
}

void CppCalls::set_attempts(CppCall& call) {
    if (!is(call, Step)) return refuse(call);
    auto& step = as<StepBuilder>(call);
    if (call.name == "non_idempotent") {
        step.non_idempotent();
        return;
    }
    if (call.arguments.empty()) return refuse(call);
    const TokenRange given = call.arguments.front();
    const std::string path = call.builder.node + "/" + std::string(call.name);
    if (call.name == "max_attempts") {
        if (const auto count = integer(given, path)) step.max_attempts(static_cast<int>(*count));
    } else if (call.name == "timeout") {
        if (const auto limit = time(given, path)) step.timeout(*limit);
    } else if (call.name == "step_timeout") {
        if (const auto limit = time(given, path)) step.step_timeout(*limit);
    } else if (call.name == "attempts") {
        step.attempts(attempt_policy(given, call.builder.node));
    } else {
        const AttemptOptions::BackoffOptions options = backoff_options(given, path);
        ebb::Backoff backoff;
        backoff.strategy = options.strategy.value_or(backoff.strategy);
        backoff.initial = options.initial.value_or(backoff.initial);
        backoff.factor = options.factor.value_or(backoff.factor);
        backoff.max = options.max.value_or(backoff.max);
        backoff.jitter = options.jitter.value_or(backoff.jitter);
        step.backoff(backoff);
    }
}

void CppCalls::set_compensate(CppCall& call) {
    if (!is(call, Step)) return refuse(call);
    std::string handler = argument(call, 0, "/compensate");
    AttemptOptions attempts;
    if (call.arguments.size() > 1) {
        attempts = attempt_options(call.arguments[1], call.builder.node + "/compensate");
    }
    as<StepBuilder>(call).compensate(std::move(handler), std::move(attempts));
}

void CppCalls::set_join(CppCall& call) {
    if (!is(call, Parallel)) return refuse(call);
    auto& parallel = as<ParallelBuilder>(call);
    if (call.name == "join_any") {
        parallel.join_any();
    } else if (call.name == "keep_losers") {
        parallel.keep_losers();
    } else if (call.arguments.empty()) {
        refuse(call);
    } else if (const auto count = integer(call.arguments[0], call.builder.node + "/join")) {
        parallel.join(static_cast<int>(*count));
    }
}

void CppCalls::set_max_iterations(CppCall& call) {
    if (!is(call, Loop) || call.arguments.empty()) return refuse(call);
    const auto count = integer(call.arguments[0], call.builder.node + "/max_iterations");
    if (count) as<LoopBuilder>(call).max_iterations(*count);
}

void CppCalls::set_decision(CppCall& call) {
    if (!is(call, Decision) || call.arguments.empty()) return refuse(call);
    auto& decision = as<DecisionBuilder>(call);
    const TokenRange given = call.arguments.front();
    const std::string path = call.builder.node + "/" + std::string(call.name);
    if (call.name == "quorum") {
        if (const auto people = integer(given, path)) decision.quorum(static_cast<int>(*people));
    } else if (call.name == "roles") {
        decision.roles(texts(given, path));
    } else {
        decision.on_reject(block_function(given, path));
    }
}

void CppCalls::set_deadline(CppCall& call) {
    if (call.arguments.empty()) return refuse(call);
    const std::string& node = call.builder.node;
    const auto limit = time(call.arguments[0], node + "/deadline");
    const bool has_outcome = call.arguments.size() > 1;
    if (is(call, Workflow) && !has_outcome) {
        if (limit) as<WorkflowBuilder>(call).deadline(*limit);
    } else if (is(call, Decision)) {
        using Outcome = HumanDecision::OnDeadline;
        auto outcome = std::optional(Outcome::Fail);
        if (has_outcome) {
            outcome = word<Outcome>(
                call.arguments[1],
                node + "/on_deadline",
                {{"Fail", Outcome::Fail}, {"Confirm", Outcome::Confirm}, {"Reject", Outcome::Reject}
                }
            );
        }
        if (limit) as<DecisionBuilder>(call).deadline(*limit, outcome.value_or(Outcome::Fail));
    } else if (is(call, Signal)) {
        using Outcome = ebb::Signal::OnDeadline;
        auto outcome = std::optional(Outcome::Fail);
        if (has_outcome) {
            outcome = word<Outcome>(
                call.arguments[1],
                node + "/on_deadline",
                {{"Fail", Outcome::Fail}, {"Continue", Outcome::Continue}}
            );
        }
        if (limit) as<SignalBuilder>(call).deadline(*limit, outcome.value_or(Outcome::Fail));
    } else {
        refuse(call);
    }
}

void CppCalls::set_signal(CppCall& call) {
    if (!is(call, Signal)) return refuse(call);
    if (call.name == "schema") {
        as<SignalBuilder>(call).schema(json_argument(call, 0, "/schema"));
    } else {
        as<SignalBuilder>(call).signal_name(argument(call, 0, "/name"));
    }
}

void CppCalls::set_resume(CppCall& call) {
    if (!is(call, Savepoint)) return refuse(call);
    auto& savepoint = as<SavepointBuilder>(call);
    if (call.arguments.empty()) {
        savepoint.resume();
    } else if (const auto n = integer(call.arguments[0], call.builder.node + "/max_resumes")) {
        savepoint.resume(static_cast<int>(*n));
    } else {
        savepoint.resume();
    }
}

void CppCalls::set_graph(CppCall& call) {
    if (!is(call, Graph)) return refuse(call);
    auto& graph = as<GraphBuilder>(call);
    if (call.name == "complete_unmatched") {
        graph.complete_unmatched();
    } else if (call.name == "entry") {
        graph.entry(argument(call, 0, "/entry"));
    } else if (call.arguments.size() == 2) {
        std::string from = argument(call, 0, "/edges");
        graph.edge(std::move(from), argument(call, 1, "/edges"));
    } else if (call.arguments.size() == 3) {
        std::string from = argument(call, 0, "/edges");
        std::string handle = argument(call, 1, "/edges");
        graph.edge(std::move(from), std::move(handle), argument(call, 2, "/edges"));
    } else {
        refuse(call);
    }
}

void CppCalls::set_workflow(CppCall& call) {
    if (!is(call, Workflow) || call.arguments.empty()) return refuse(call);
    auto& workflow = as<WorkflowBuilder>(call);
    const TokenRange given = call.arguments.front();
    const std::string path = "/" + std::string(call.name);
    if (call.name == "priority") {
        if (const auto n = integer(given, path)) workflow.priority(static_cast<int>(*n));
    } else if (call.name == "step_budget") {
        if (const auto visits = integer(given, path)) workflow.step_budget(*visits);
    } else if (call.name == "sensitive") {
        workflow.sensitive(texts(given, path));
    } else if (call.name == "on_error") {
        using OnError = Definition::OnError;
        const auto reaction = word<OnError>(
            given,
            path,
            {{"Compensate", OnError::Compensate},
             {"DeadLetter", OnError::DeadLetter},
             {"Exception", OnError::Exception}}
        );
        if (reaction) workflow.on_error(*reaction);
    } else {
        StepDefaults defaults;
        fields(given, path, [&](std::string_view name, TokenRange field) {
            if (name == "attempts") {
                defaults.attempts = attempt_policy(field, path);
            } else if (name == "queue") {
                defaults.queue = text(field, path + "/queue");
            } else {
                return false;
            }
            return true;
        });
        workflow.defaults(std::move(defaults));
    }
}

void CppCalls::set_label(CppCall& call) {
    if (!is(call, Workflow) || call.arguments.size() != 3) return refuse(call);
    std::string name = argument(call, 0, "/labels");
    const std::string path = "/labels/" + name;
    const auto type = word<LabelType>(
        call.arguments[1],
        path + "/type",
        {{"Text", LabelType::Text},
         {"Number", LabelType::Number},
         {"Bool", LabelType::Bool},
         {"Time", LabelType::Time}}
    );
    Payload value = json(call.arguments[2], path + "/value");
    if (type) as<WorkflowBuilder>(call).label(std::move(name), *type, std::move(value));
}

void CppCalls::set_workflow_payload(CppCall& call) {
    if (!is(call, Workflow)) return refuse(call);
    auto& workflow = as<WorkflowBuilder>(call);
    if (call.name == "handler_spec") {
        std::string name = argument(call, 0, "/handlers");
        const std::string path = "/handlers/" + name;
        if (call.arguments.size() != 2) return refuse(call);
        workflow.handler_spec(std::move(name), json(call.arguments[1], path));
        return;
    }
    const Payload given = json_argument(call, 0, "/" + std::string(call.name));
    if (call.name == "output") {
        workflow.output(given);
    } else {
        workflow.input_schema(given);
    }
}

}  // namespace ebb::source
