#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <ebb/definition.h>
#include <ebb/error.h>
#include <ebb/handler.h>

// Handlers with a contract: schemas of their input and output, and data that is filled in only when
// they are called. See docs/how-to/graphs.md.

namespace ebb {

/// What a validator says about a value.
struct Validation {
    std::vector<std::string> violations{};  ///< empty = the value is valid
    /// The value to use instead of a valid one, as JSON text: for example with defaults, without
    /// unknown keys, or converted. Absent = the value as it is.
    std::optional<Payload> value{};
};

/// Judges values by one schema. Called from several threads.
class Validator {
 public:
    virtual ~Validator() = default;
    /// What is wrong with `value` (JSON text), as `/items/0: ...`; empty if it is valid.
    virtual std::vector<std::string> violations(const Payload& value) const = 0;
    /// Judges `value` and may replace it: the handler gets the returned value as its input, and the
    /// returned output is the step's. Override this function to fill in defaults, remove keys or
    /// convert values. By default: `violations`, and the value stays as it is.
    virtual Validation validate(const Payload& value) const;
};

/// Creates the validator of a schema. Throws Error with InvalidPayload if the schema is not valid.
using ValidatorFactory = std::function<std::shared_ptr<const Validator>(const Payload& schema)>;

/// JSON Schema, draft 7: the default of NodeTypes. `validate` fills in the `default` of each
/// property that an object lacks: in `properties`, also below `items`, `additionalProperties`,
/// `allOf` and `$ref`, but not below `anyOf`, `oneOf`, `not` and `if`.
std::shared_ptr<const Validator> json_schema_validator(const Payload& schema);

/// Values that are known only when a handler is called, as JSON texts.
struct CallValues {
    Payload globals = "{}";    ///< an object
    Payload secrets = "{}";    ///< an object whose values are texts, or objects of such
    Payload payload = "null";  ///< the payload from outside for a paused step
};

/// Changes the data of a node before its schema and handler see it. Called from several threads.
class Transformer {
 public:
    virtual ~Transformer() = default;
    virtual Payload transform(
        const Payload& data, const StepContext& step, const CallValues& values
    ) const = 0;
};

/// The contract of a handler.
struct NodeType {
    /// What a handler returns.
    enum class Result {
        Output,    ///< the output
        Envelope,  ///< {"data": the output, "nextHandle": a handle, "__pause": true}
    };

    Payload input_schema{};   ///< empty = any input
    Payload output_schema{};  ///< empty = any output
    Result result = Result::Output;
    /// For steps of this type without a policy of their own: see NodeTypes::with_retries.
    std::optional<AttemptPolicy> retry{};
};

/// What a failure means.
struct ErrorVerdict {
    enum class Kind {
        AsThrown,  ///< as the thrown exception says
        Retry,     ///< retry, as far as the step's max_attempts allows
        GiveUp,    ///< for good
    };

    Kind kind = Kind::AsThrown;
    std::optional<Duration> delay{};  ///< for Retry; absent = the step's backoff
};

struct NodeTypesOptions {
    ValidatorFactory validators = json_schema_validator;
    /// In this order, after the expressions over `globals`, `secrets` and `payload`.
    std::vector<std::shared_ptr<const Transformer>> transformers{};
    /// Called for every call of a handler, so that a secret can change. Null = there are none.
    std::function<Payload(const StepContext& step)> globals{};
    std::function<Payload(const StepContext& step)> secrets{};
    /// Called if a handler has thrown or has broken its contract, including compensations: the
    /// failure is redacted, and its code is `error` if the handler gave none. If this function
    /// throws, the result is AsThrown. Null = AsThrown.
    std::function<ErrorVerdict(const HandlerFailure& failure, const StepContext& step)> on_error{};
};

/// Types of nodes: handlers with schemas. At each call
///  1. the `$${ ... }` of the step's input that read `globals`, `secrets` or `payload` are filled
///     in (only those in definitions that were passed to `bind`: texts in the data are never
///     evaluated),
///  2. the transformers change the input,
///  3. the input is validated by its schema: a violation fails the step for good as
///     `invalid_input`; otherwise the handler gets the value that the validator returns,
///  4. the handler is called,
///  5. its output is validated by its schema: `invalid_output`; otherwise the step's output is the
///     value that the validator returns. What was filled in for the input is never kept: the
///     history has the input as it was before. Secrets of at least kSecretBytesMin bytes are
///     replaced by `[redacted]` in outputs and errors.
///
/// If a definition has an entry in `handlers:` with the type's name (from a file of types), its
/// defaults and schemas apply as well, before those of the type.
class NodeTypes {
 public:
    static constexpr std::size_t kSecretBytesMin = 4;

    explicit NodeTypes(NodeTypesOptions options = {});

    /// Throws Error with InvalidArgument if the type is already known, InvalidPayload if a schema
    /// is not valid.
    NodeTypes& add_raw(const std::string& type, const NodeType& contract, Handler handler);
    /// The same for a handler whose calls are completed later: no thread waits for them. The output
    /// is checked in the thread that completes the call.
    NodeTypes& add_async_raw(
        const std::string& type, const NodeType& contract, AsyncHandler handler
    );

    /// As HandlerRegistry::add.
    template <typename Input = detail::Deduced, typename Function>
    NodeTypes& add(const std::string& type, const NodeType& contract, Function function) {
        HandlerRegistry typed;
        typed.add<Input>(type, std::move(function));
        if (const AsyncHandler* async = typed.find_async(type)) {
            return add_async_raw(type, contract, *async);
        }
        return add_raw(type, contract, *typed.find(type));
    }

    /// The definition in which each step and compensation with the default policy (AttemptPolicy{})
    /// has the policy of its type.
    Definition with_retries(Definition definition) const;

    /// Registers the definition's late expressions. Returns the problems of its steps according to
    /// these types: `unknown_node_type`, `late_expression`. Call it before the first call of a
    /// handler.
    std::vector<Diagnostic> bind(const Definition& definition);

    /// Adds all types to `registry`, as handlers with their names, for the engines. The registry
    /// can outlive this object.
    void add_to(HandlerRegistry& registry) const;

 private:
    struct State;
    std::shared_ptr<State> state_;
};

}  // namespace ebb
