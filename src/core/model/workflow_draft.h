#pragma once

#include <memory>

#include <ebb/builder.h>

namespace ebb {

namespace detail {

struct WorkflowDraft {
    Definition definition;  ///< without its steps
    std::shared_ptr<Block> steps = std::make_shared<Block>();
    StepDefaults defaults;
};

}  // namespace detail

namespace model {

/// Payloads in the model are canonical. What is not JSON stays as it is, for `validate` to refuse.
Payload canonical(Payload text);

}  // namespace model

}  // namespace ebb
