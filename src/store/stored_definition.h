#pragma once

#include <memory>
#include <string>

#include <ebb/definition.h>
#include <ebb/error.h>

#include "core/kernel/program.h"
#include "store/store_rows.h"

namespace ebb {

/// A version that the store has and this program cannot read, because a newer Ebb registered it or
/// its row was damaged. Its message names the version, and the place and the cause of the first
/// problem. What meets it sets the version aside and continues with the others.
class UnreadableDefinition : public Error {
 public:
    UnreadableDefinition(const WorkflowRow& row, std::string cause);

    /// Place and cause: `/rules/triggers/0/when: There is no attribute "v".`
    const std::string& cause() const noexcept { return cause_; }

 private:
    std::string cause_;
};

/// The definition of a row. Throws UnreadableDefinition.
Definition stored_definition(const WorkflowRow& row);

/// The same, compiled.
std::shared_ptr<const Program> stored_program(const WorkflowRow& row);

}  // namespace ebb
