#include "store/postgres/call_rows.h"

#include <ebb/error.h>

#include "core/kernel/stored_program.h"

namespace ebb::postgres {

CallRows::CallRows(const WorkflowRow& workflow) : workflow_(workflow) {
    try {
        const auto program = compile_stored(workflow.definition);
        for (const ProgramNode& node : program->nodes()) {
            if (!node.handler.empty()) add(node, false, node.handler, node.attempts);
            if (node.compensate) {
                add(node, true, node.compensate->handler, node.compensate->attempts);
            }
        }
    } catch (const Error&) {
        seen_.clear();  // of a newer program: no worker in SQL runs it
    }
}

void CallRows::add(
    const ProgramNode& node,
    bool is_compensation,
    std::string_view handler,
    const AttemptPolicy& policy
) {
    if (!seen_.insert({node.name, is_compensation}).second) return;
    nodes_.add(std::string_view(node.name));
    are_compensations_.add(is_compensation);
    handlers_.add(handler);
    queues_.add(std::string_view(node.queue));
    timeouts_.add(std::int64_t{policy.timeout.count()});
    max_attempts_.add(std::int32_t{policy.max_attempts});
}

Arguments CallRows::arguments() const {
    return Arguments::of(
        workflow_.name,
        std::int32_t{workflow_.version},
        workflow_.checksum,
        nodes_,
        are_compensations_,
        handlers_,
        queues_,
        timeouts_,
        max_attempts_
    );
}

}  // namespace ebb::postgres
