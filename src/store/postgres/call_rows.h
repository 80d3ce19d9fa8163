#pragma once

#include <set>
#include <string>
#include <string_view>
#include <utility>

#include <ebb/definition.h>

#include "store/postgres/arguments.h"
#include "store/store.h"

namespace ebb {
struct ProgramNode;
}

namespace ebb::postgres {

/// What each step of a workflow calls, and each compensation: rows of ebb.calls.
class CallRows {
 public:
    /// `workflow` must outlive this. No rows if the definition cannot be read.
    explicit CallRows(const WorkflowRow& workflow);

    bool is_empty() const { return seen_.empty(); }

    /// Of add_calls; they refer to this.
    Arguments arguments() const;

 private:
    void add(
        const ProgramNode& node,
        bool is_compensation,
        std::string_view handler,
        const AttemptPolicy& policy
    );

    const WorkflowRow& workflow_;
    std::set<std::pair<std::string, bool>> seen_;
    Array nodes_{Array::Of::Text};
    Array are_compensations_{Array::Of::Bool};
    Array handlers_{Array::Of::Text};
    Array queues_{Array::Of::Text};
    Array timeouts_{Array::Of::Bigint};
    Array max_attempts_{Array::Of::Integer};
};

}  // namespace ebb::postgres
