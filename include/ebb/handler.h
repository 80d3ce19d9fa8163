#pragma once

#include <concepts>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <ebb/callable.h>
#include <ebb/completion.h>
#include <ebb/context.h>
#include <ebb/error.h>
#include <ebb/id.h>
#include <ebb/json.h>
#include <ebb/time.h>

namespace ebb {

/// Runs one step. `input` and the result are JSON texts. Returning means success; any exception
/// means that the attempt has failed (PermanentError and RetryAfter say what follows). Called from
/// worker threads, possibly several at the same time, at least once per visit of a step.
///
/// A compensation is called with the object {"input", "output", "error", "outcome"} of the step
/// that it undoes.
using Handler = std::function<Payload(const Payload& input, const StepContext& context)>;

/// A failure with a code and details (JSON text) for the history. Handlers throw it if they know
/// more than a message.
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

/// The named functions that a process can run. A handler always has a name, because a name can be
/// stored and a lambda cannot. Fill the registry before the engine starts; it is not synchronized.
class HandlerRegistry {
 public:
    /// Adds a handler of JSON texts: its input and output are neither parsed nor checked here.
    /// Throws Error with InvalidArgument if the name is taken or not valid.
    HandlerRegistry& add_raw(std::string name, Handler handler);

    /// Adds any ordinary callable as a handler: a function, a lambda, a std::function, an object
    /// with a call operator. It takes its input, a `const StepContext&`, both in either order, or
    /// nothing. Values are converted as <ebb/fields.h> says; a Payload is the JSON text as it
    /// is, a `std::string` the content of a JSON string. An input that does not fit is a permanent
    /// failure `invalid_input`.
    ///
    /// - The type of the input is that of the parameter. For a generic lambda or std::bind_front,
    ///   name it: `add<Order>(name, callable)`.
    /// - A callable that returns void passes its input on. An empty std::optional is null. A
    ///   StepResult may name a handle or pause.
    /// - If it returns a std::future of any of these (or another type with wait() and get()), the
    ///   thread that called it waits for the future; an exception from the future is an exception
    ///   of the handler.
    /// - A callable with a Completion parameter (<ebb/completion.h>) is asynchronous: it returns
    ///   immediately, and its call continues without a thread until it is completed.
    ///
    /// Everything that the callable refers to must outlive the engine. Throws as add_raw does.
    template <typename Input = detail::Deduced, typename Function>
    HandlerRegistry& add(std::string name, Function function) {
        if constexpr (detail::kCanBeEmpty<Function>) {
            if (function == nullptr) return add_raw(std::move(name), nullptr);
        }
        if constexpr (std::same_as<Function, Handler>) {
            return add_raw(std::move(name), std::move(function));
        } else if constexpr (detail::has_good_parameters<Function, Input, false>()) {
            if constexpr (detail::has_good_result<Function, Input>()) {
                using Typed = detail::TypedHandler<Function, Input>;
                if constexpr (detail::Shape<typename Typed::Parameters>::kIsAsync) {
                    return add_kept(
                        std::move(name), detail::keep(std::move(function)), &Typed::begin
                    );
                } else {
                    return add_kept(
                        std::move(name), detail::keep(std::move(function)), &Typed::run, false
                    );
                }
            }
        }
        return *this;
    }

    /// A member function of `object`: a pointer, a smart pointer, std::ref, or a value that is
    /// kept.
    template <typename Input = detail::Deduced, typename Method, typename Object>
        requires std::is_member_function_pointer_v<Method>
    HandlerRegistry& add(std::string name, Method method, Object object) {
        using Parameters = typename detail::Signature<Method>::Parameters;
        return add<Input>(
            std::move(name), detail::Bound<Method, Object, Parameters>{method, std::move(object)}
        );
    }

    /// Adds a handler whose calls are completed later. `handler` gets JSON text. If the caller
    /// needs the result itself (the stateless engine, `find`), its thread waits for the completion.
    HandlerRegistry& add_async_raw(std::string name, AsyncHandler handler);

    /// Adds a handler whose effects in the store's own database happen exactly once: it takes a
    /// `const Transaction&` (see <ebb/transaction.h>) beside its input and context, a connection
    /// with an open transaction, and what it does there is committed together with the end of the
    /// step. If it fails, or if the step's result is no longer wanted, all of it is rolled back,
    /// and the handler may be called again. It must neither commit nor roll back. While the handler
    /// runs, the transaction is open, and with SQLite the database is locked against all other
    /// writes, so the handler should be short and wait for nothing else. Also works for
    /// compensations. The store must be SQLite or PostgreSQL. Otherwise as add.
    template <typename Input = detail::Deduced, typename Function>
    HandlerRegistry& add_transactional(std::string name, Function function) {
        if constexpr (detail::kCanBeEmpty<Function>) {
            if (function == nullptr) return add_raw(std::move(name), nullptr);
        }
        if constexpr (detail::has_good_parameters<Function, Input, true>()) {
            if constexpr (detail::has_good_result<Function, Input>()) {
                using Typed = detail::TypedHandler<Function, Input>;
                return add_kept(
                    std::move(name), detail::keep(std::move(function)), &Typed::run, true
                );
            }
        }
        return *this;
    }

    /// The same of JSON texts; the transaction is in the context.
    HandlerRegistry& add_transactional_raw(std::string name, Handler handler);

    bool is_transactional(std::string_view name) const { return transactional_.contains(name); }

    bool has_transactional() const { return !transactional_.empty(); }

    /// How long the handler may need to stop after it was asked to, for example a program that gets
    /// SIGTERM. An engine does not give it up earlier, even if its own stop_grace is shorter, so
    /// that the compensation does not begin while the handler still works. Zero = the engine's
    /// stop_grace.
    HandlerRegistry& set_grace(std::string_view name, Duration grace);

    Duration grace(std::string_view name) const;

    /// For all handlers.
    Duration longest_grace() const;

    /// Null if there is none. For an asynchronous handler: a function that waits for the
    /// completion.
    const Handler* find(std::string_view name) const;
    /// Null if it is not asynchronous.
    const AsyncHandler* find_async(std::string_view name) const;
    /// Sorted.
    std::vector<std::string> names() const;

 private:
    /// A callable without its type, and the function that knows how to call it.
    HandlerRegistry& add_kept(
        std::string name,
        std::shared_ptr<void> function,
        Payload (*run)(void* function, const Payload& input, const StepContext& context),
        bool is_transactional
    );
    HandlerRegistry& add_kept(
        std::string name,
        std::shared_ptr<void> function,
        void (*begin)(void* function, const Payload& input, const detail::CompletionPtr& completion)
    );

    std::map<std::string, Handler, std::less<>> handlers_;
    std::map<std::string, AsyncHandler, std::less<>> async_;
    std::set<std::string, std::less<>> transactional_;
    std::map<std::string, Duration, std::less<>> graces_;
};

}  // namespace ebb
