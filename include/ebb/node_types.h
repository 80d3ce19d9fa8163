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

// Handlers with a contract: schemas of what they get and give, and data that is filled in only when
// they are called. See docs/how-to/graphs.md.

namespace ebb {

/// Judges values by one schema. Called from several threads.
class Validator {
 public:
    virtual ~Validator() = default;
    /// What is wrong with `value` (JSON text), as `/items/0: ...`; empty when nothing is.
    virtual std::vector<std::string> violations(const Payload& value) const = 0;
};

/// Makes the validator of a schema. Throws Error with InvalidPayload when the schema is none.
using ValidatorFactory = std::function<std::shared_ptr<const Validator>(const Payload& schema)>;

/// JSON Schema, draft 7: what NodeTypes uses unless told otherwise.
std::shared_ptr<const Validator> json_schema_validator(const Payload& schema);

/// What is known only when a handler is called, as JSON texts.
struct CallValues {
    Payload globals = "{}";    ///< an object
    Payload secrets = "{}";    ///< an object whose values are texts, or objects of such
    Payload payload = "null";  ///< what came from outside for a paused step
};

/// Changes the data of a node before its schema and handler see it. Called from several threads.
class Transformer {
 public:
    virtual ~Transformer() = default;
    virtual Payload transform(
        const Payload& data, const StepContext& step, const CallValues& values
    ) const = 0;
};

/// What a handler promises.
struct NodeType {
    /// What a handler returns.
    enum class Result {
        Output,    ///< the output
        Envelope,  ///< {"data": the output, "nextHandle": a handle, "__pause": true}
    };

    Payload input_schema{};   ///< empty = any input
    Payload output_schema{};  ///< empty = any output
    Result result = Result::Output;
    /// Of steps of this type that say nothing of it themselves: see NodeTypes::with_retries.
    std::optional<AttemptPolicy> retry{};
};

/// What a failure means.
struct ErrorVerdict {
    enum class Kind {
        AsThrown,  ///< what the handler said by what it threw
        Retry,     ///< try again, as far as the step's max_attempts allows
        GiveUp,    ///< for good
    };

    Kind kind = Kind::AsThrown;
    std::optional<Duration> delay{};  ///< of Retry; absent = as the step's backoff says
};

struct NodeTypesOptions {
    ValidatorFactory validators = json_schema_validator;
    /// In this order, after the expressions over `globals`, `secrets` and `payload`.
    std::vector<std::shared_ptr<const Transformer>> transformers{};
    /// Asked at every call, so that a secret can change. Null = there are none.
    std::function<Payload(const StepContext& step)> globals{};
    std::function<Payload(const StepContext& step)> secrets{};
    /// Asked whenever a handler has thrown or has broken its contract, compensations included: the
    /// failure is redacted, and its code is `error` where the handler gave none. What it throws
    /// itself is as if it had said AsThrown. Null = AsThrown.
    std::function<ErrorVerdict(const HandlerFailure& failure, const StepContext& step)> on_error{};
};

/// Types of nodes: handlers with schemas. At each call
///  1. the `$${ ... }` of the step's input that read `globals`, `secrets` or `payload` are filled
///     in (those that stand in a definition that `bind` was told of: what comes with the data is
///     never evaluated),
///  2. the transformers change the input,
///  3. the input is compared with its schema: a violation fails the step for good, `invalid_input`,
///  4. the handler is called,
///  5. its output is compared with its schema: `invalid_output`.
/// What was filled in is never kept: the history has the input as it was before. Secrets of at
/// least kSecretBytesMin bytes are replaced by `[redacted]` in outputs and errors.
class NodeTypes {
 public:
    static constexpr std::size_t kSecretBytesMin = 4;

    explicit NodeTypes(NodeTypesOptions options = {});

    /// Throws Error with InvalidArgument when the type is known already, InvalidPayload when a
    /// schema is none.
    NodeTypes& add_raw(const std::string& type, const NodeType& contract, Handler handler);

    /// As HandlerRegistry::add.
    template <typename Input = detail::Deduced, typename Function>
    NodeTypes& add(const std::string& type, const NodeType& contract, Function function) {
        HandlerRegistry typed;
        typed.add<Input>(type, std::move(function));
        return add_raw(type, contract, *typed.find(type));
    }

    /// The definition in which each step and compensation that has the policy of who says nothing
    /// (AttemptPolicy{}) has the one of its type.
    Definition with_retries(Definition definition) const;

    /// Makes the definition's late expressions known. Returns what is wrong with its steps, by
    /// these types: `unknown_node_type`, `late_expression`. Before the first call.
    std::vector<Diagnostic> bind(const Definition& definition);

    /// Puts all types into `registry`, as handlers of their names, for the engines. The registry
    /// may outlive this.
    void add_to(HandlerRegistry& registry) const;

 private:
    struct State;
    std::shared_ptr<State> state_;
};

}  // namespace ebb
