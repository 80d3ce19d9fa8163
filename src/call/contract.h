#pragma once

#include <memory>
#include <string>
#include <vector>

#include <ebb/error.h>
#include <ebb/node_types.h>

#include "support/json.h"

namespace ebb {

/// What a handler entry promises, besides what it does.
struct HandlerContract {
    NodeType type{};
    Json defaults{};  ///< an object with what an input lacks; null = none

    bool is_empty() const {
        return type.input_schema.empty() && type.output_schema.empty() && defaults.is_null() &&
               type.result == NodeType::Result::Output;
    }
};

/// Reads `input_schema`, `output_schema`, `result` and `defaults` of an entry (an object), takes
/// them away from it, and notes what is wrong with them.
HandlerContract take_contract(
    Json& entry, const std::string& path, std::vector<Diagnostic>& problems
);

/// A contract made ready: it checks a handler's input and output, and may replace them. Immutable
/// and safe to use from several threads. What belongs to a compensation is left as it is.
class Contract {
 public:
    /// `name` is that of the type. Throws Error with InvalidPayload if a schema is not valid.
    Contract(
        std::string name,
        const HandlerContract& declared,
        const ValidatorFactory& validators = json_schema_validator
    );

    /// The input that the handler gets: with the defaults, and as the validator returns it. Throws
    /// HandlerFailure `invalid_input`.
    Payload accept(Payload input, const StepContext& context) const;

    /// The step's output that follows from what the handler has returned. Throws HandlerFailure
    /// `invalid_output`.
    Payload fulfil(Payload result, const StepContext& context) const;

 private:
    std::string name_;
    Json defaults_;
    NodeType::Result result_;
    std::shared_ptr<const Validator> input_;
    std::shared_ptr<const Validator> output_;
};

/// The handler, held to the contract.
Handler with_contract(const std::string& name, Handler handler, const HandlerContract& contract);

}  // namespace ebb
