#pragma once

#include <memory>
#include <string>
#include <utility>

#include <ebb/completion.h>
#include <ebb/handler.h>

#include "call/contract.h"

namespace ebb {

/// The calls of one handler that NodeTypes holds to its type. The contract of a definition's entry,
/// if there is one, applies after the late values are filled in and before that of the type.
class TypedCalls {
 public:
    virtual ~TypedCalls() = default;
    virtual Payload call(const Payload& input, const StepContext& context, const Contract* entry)
        const = 0;
    virtual void begin(
        const Payload& input,
        const detail::CompletionPtr& outer,
        const std::shared_ptr<const Contract>& entry
    ) const = 0;
    /// Whether the late values in the input of this step are filled in.
    virtual bool is_bound(const StepContext& context) const = 0;
};

/// What NodeTypes registers, so that engines recognize it.
struct TypedHandler {
    std::shared_ptr<const TypedCalls> calls;

    Payload operator()(const Payload& input, const StepContext& context) const {
        return calls->call(input, context, nullptr);
    }
};

struct TypedAsyncHandler {
    std::shared_ptr<const TypedCalls> calls;

    void operator()(const Payload& input, const detail::CompletionPtr& completion) const {
        calls->begin(input, completion, nullptr);
    }
};

}  // namespace ebb
