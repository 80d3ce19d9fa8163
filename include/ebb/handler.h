#pragma once

#include <concepts>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <ebb/error.h>
#include <ebb/id.h>
#include <ebb/json.h>
#include <ebb/time.h>

namespace ebb {

/// What is known of the step that a compensation undoes.
struct CompensatedStep {
    enum class Outcome { Completed, Failed, Unknown };

    std::string idempotency_key;  ///< of the forward step's calls
    Payload input;
    Payload output;  ///< empty unless it completed
    Payload error;   ///< empty if it completed; else {"code", "message", ...}
    Outcome outcome = Outcome::Completed;
};

class Transaction;

/// What a handler says of its result besides the output.
struct StepChoice {
    std::string handle{};    ///< of the graph's edge to leave by; empty = the default one
    bool is_paused = false;  ///< call this step again when a payload has come from outside
};

/// The circumstances of one call of a handler. Valid for the duration of the call.
struct StepContext {
    InstanceId instance;
    std::string workflow;
    int workflow_version = 1;
    std::string step;  ///< the node's name
    std::string handler;
    int attempt = 1;  ///< 1 = the first call
    int max_attempts = 1;
    /// The same for every attempt of one visit of the step, another one for the next turn of a loop
    /// and for the compensation. Hand it to whatever the handler calls, so that a repeated call is
    /// recognised there.
    std::string idempotency_key;
    TimePoint deadline = kNever;  ///< of this attempt, as far as timeouts bound it
    /// Asks the handler to come to an end: timeout, cancel, a failed sibling, shutdown, or a lost
    /// lease.
    std::stop_token stop;
    std::optional<CompensatedStep> compensates;  ///< set when this call is a compensation
    /// What came from outside for this step after it had paused (JSON text); every further attempt
    /// sees it, too. Empty before.
    std::optional<Payload> payload{};
    /// Set in a transactional handler: the open transaction that will also commit the end of the
    /// step.
    const Transaction* transaction = nullptr;
    /// Where leave_by and pause put what they are told; null in calls that no engine makes.
    StepChoice* choice = nullptr;

    /// Of a node of a graph: the result goes by the edge with this handle. A handle without an edge
    /// fails the step for good, as `unmatched_handle`, unless the graph says otherwise.
    void leave_by(std::string handle) const {
        if (choice != nullptr) choice->handle = std::move(handle);
    }

    /// Not done yet: what the handler returns is dropped, and it is called again, with `payload`,
    /// when a signal with the step's name comes. A compensation cannot pause.
    void pause() const {
        if (choice != nullptr) choice->is_paused = true;
    }
};

/// The result of a typed handler that says more than its output: made by `result`, `next`, `pause`.
struct StepResult {
    Payload output = "null";
    StepChoice choice{};
};

/// An output that names no handle.
template <typename JsonType = Json, typename Value>
StepResult result(const Value& value) {
    return {.output = JsonType(value).dump()};
}

/// An output that leaves its node of a graph by the edge with this handle: as
/// StepContext::leave_by.
template <typename JsonType = Json, typename Value>
StepResult next(std::string handle, const Value& value) {
    return {.output = JsonType(value).dump(), .choice = {.handle = std::move(handle)}};
}

/// No output yet: as StepContext::pause.
inline StepResult pause() {
    return {.choice = {.is_paused = true}};
}

/// Runs one step. `input` and the result are JSON texts. Returning means success; any exception
/// means that the attempt has failed (PermanentError and RetryAfter say how to go on). Called from
/// worker threads, possibly several at once, at least once per step visit.
///
/// A compensation is called with the object {"input", "output", "error", "outcome"} of the step
/// that it undoes.
using Handler = std::function<Payload(const Payload& input, const StepContext& context)>;

/// A failure with a code and details (JSON text) that the history keeps: thrown by handlers that
/// know more than a text.
class HandlerFailure : public std::runtime_error {
 public:
    struct Options {
        std::string code = "error";
        bool is_permanent = false;
        std::optional<Duration> retry_after;
        Payload details;
    };

    HandlerFailure(const std::string& message, Options options);

    const Options& options() const { return options_; }

 private:
    Options options_;
};

namespace detail {

/// The parameter and result types of a typed handler `Result f(Input)` or `Result f(Input, const
/// StepContext&)`.
template <typename Function>
struct HandlerTraits : HandlerTraits<decltype(&Function::operator())> {};

template <typename Result, typename Input, typename... Rest>
struct HandlerTraits<Result (*)(Input, Rest...)> {
    using Output = Result;
    using In = std::remove_cvref_t<Input>;
    static constexpr bool kTakesContext = sizeof...(Rest) == 1;
};

template <typename Class, typename Result, typename Input, typename... Rest>
struct HandlerTraits<Result (Class::*)(Input, Rest...) const>
    : HandlerTraits<Result (*)(Input, Rest...)> {};

template <typename Class, typename Result, typename Input, typename... Rest>
struct HandlerTraits<Result (Class::*)(Input, Rest...)>
    : HandlerTraits<Result (*)(Input, Rest...)> {};

/// A result that comes later: std::future and what is like it.
template <typename T>
concept Later = requires(T& later) {
    later.wait();
    later.get();
};

template <typename T>
struct Awaited {
    using Type = T;
};

template <Later T>
struct Awaited<T> {
    using Type = decltype(std::declval<T&>().get());
};

/// Parses a handler's input; a text that does not fit the type is a permanent failure
/// `invalid_input`.
[[noreturn]] void throw_invalid_input(const std::string& why);

}  // namespace detail

/// The named functions that a process can run. A handler is always named, because a name can be
/// persisted and a lambda cannot. Fill it before the engine starts; it is not synchronised.
class HandlerRegistry {
 public:
    /// Adds a handler of JSON texts: what it gets and returns is neither parsed nor checked here.
    /// Throws Error with InvalidArgument when the name is taken or not valid.
    HandlerRegistry& add_raw(std::string name, Handler handler);

    /// Adds a handler of your own types: `Output f(const Input&)` or `Output f(const Input&, const
    /// StepContext&)`. Conversions are nlohmann's to_json/from_json (include <nlohmann/json.hpp>
    /// first). A handler that returns void passes its input on; one that returns a StepResult may
    /// name a handle or pause. One that returns a std::future of any of these (or what else has
    /// wait() and get()) is waited for in the thread that called it; what the future throws is
    /// thrown by the handler. What such a handler refers to must outlive its future. A
    /// `std::string` is the content of a JSON string, never JSON text: for that there is add_raw.
    /// Throws as add_raw does.
    template <typename JsonType = Json, typename Function>
        requires(!std::same_as<std::remove_cvref_t<Function>, Handler>)
    HandlerRegistry& add(std::string name, Function function) {
        return add_raw(std::move(name), Handler(typed<JsonType>(std::move(function))));
    }

    /// Adds a handler whose effects in the store's own database happen exactly once: `Output
    /// f(const Input&, const StepContext&, const Transaction&)` gets a connection (see
    /// <ebb/transaction.h>) with an open transaction, and what it does there is committed together
    /// with the end of the step. If it fails, or if the step's result is not wanted any more, all
    /// of it is rolled back; then the handler may be called again. It must neither commit nor roll
    /// back. The transaction is open, and with SQLite the database locked against all other writes,
    /// while the handler runs: it should be short and wait for nothing else. Also for
    /// compensations. The store must be SQLite or PostgreSQL. Otherwise as add.
    template <typename JsonType = Json, typename Function>
    HandlerRegistry& add_transactional(std::string name, Function function) {
        using Traits = detail::HandlerTraits<Function>;
        return add_transactional_raw(
            std::move(name),
            Handler(typed<JsonType>(
                [function = std::move(function
                 )](const typename Traits::In& input, const StepContext& context) mutable ->
                typename Traits::Output { return function(input, context, *context.transaction); }
            ))
        );
    }

    /// The same of JSON texts; the transaction is in the context.
    HandlerRegistry& add_transactional_raw(std::string name, Handler handler);

    bool is_transactional(std::string_view name) const { return transactional_.contains(name); }

    bool has_transactional() const { return !transactional_.empty(); }

    /// How long the handler may need to end after it was asked to stop, for example a program that
    /// gets SIGTERM. An engine gives it up no sooner, even if its own stop_grace is shorter, so
    /// that its compensation does not begin while it still works. Zero = as long as any other.
    HandlerRegistry& set_grace(std::string_view name, Duration grace);

    Duration grace(std::string_view name) const;

    /// Of all of them.
    Duration longest_grace() const;

    /// Null when there is none.
    const Handler* find(std::string_view name) const;
    /// Sorted.
    std::vector<std::string> names() const;

 private:
    template <typename JsonType, typename Function>
    static auto typed(Function function) {
        return [function = std::move(function
                )](const Payload& text, const StepContext& context) mutable -> Payload {
            using Traits = detail::HandlerTraits<Function>;
            using Input = typename Traits::In;
            using Output = typename detail::Awaited<typename Traits::Output>::Type;
            const auto begin = [&](Input& input) -> decltype(auto) {
                if constexpr (Traits::kTakesContext) {
                    return function(input, context);
                } else {
                    return function(input);
                }
            };
            const auto call = [&](Input& input) -> decltype(auto) {
                if constexpr (detail::Later<typename Traits::Output>) {
                    return begin(input).get();
                } else {
                    return begin(input);
                }
            };
            std::optional<Input> input;
            try {
                input.emplace(JsonType::parse(text).template get<Input>());
            } catch (const typename JsonType::exception& error) {
                detail::throw_invalid_input(error.what());
            }
            if constexpr (std::is_void_v<Output>) {
                call(*input);
                return text;
            } else if constexpr (std::is_same_v<Output, StepResult>) {
                StepResult result = call(*input);
                if (context.choice != nullptr) *context.choice = std::move(result.choice);
                return std::move(result.output);
            } else {
                return JsonType(call(*input)).dump();
            }
        };
    }

    std::map<std::string, Handler, std::less<>> handlers_;
    std::set<std::string, std::less<>> transactional_;
    std::map<std::string, Duration, std::less<>> graces_;
};

}  // namespace ebb
