#include <algorithm>

#include <fmt/format.h>

#include <ebb/definition.h>
#include <ebb/error.h>
#include <ebb/handler.h>

#include "call/completion.h"
#include "support/json.h"

namespace ebb {

namespace {

/// What a name in a definition may be, and nothing that could not be printed.
bool is_valid_name(std::string_view name) {
    return !name.empty() && name.size() <= DefinitionLimits::kNameBytesMax &&
           std::all_of(
               name.begin(),
               name.end(),
               [](char c) { return static_cast<unsigned char>(c) > 0x20 && c != 0x7f; }
           ) &&
           clean_text(name, name.size()) == name;
}

}  // namespace

HandlerFailure::HandlerFailure(const std::string& message, Options options)
    : std::runtime_error(message), options_(std::move(options)) {}

namespace detail {

void read_input_text(
    const std::string& text, const StepContext& context, ReadInto read, void* value
) {
    try {
        read_text(text, read, value);
    } catch (const Error& error) {
        const char* hint = context.compensates
                               ? " A compensation gets the input, output, error and outcome of its "
                                 "step: take ebb::Compensated<Input, Output>."
                               : "";
        throw HandlerFailure(
            fmt::format("The input does not fit the handler's type: {}{}", error.what(), hint),
            {.code = "invalid_input", .is_permanent = true, .retry_after = {}, .details = {}}
        );
    }
}

std::shared_ptr<void> keep(void* object, void (*destroy)(void*)) {
    return {object, destroy};
}

}  // namespace detail

HandlerRegistry& HandlerRegistry::add_kept(
    std::string name,
    std::shared_ptr<void> function,
    Payload (*run)(void* function, const Payload& input, const StepContext& context),
    bool is_transactional
) {
    Handler handler = [run, function = std::move(function)](
                          const Payload& input, const StepContext& context
                      ) { return run(function.get(), input, context); };
    if (is_transactional) return add_transactional_raw(std::move(name), std::move(handler));
    return add_raw(std::move(name), std::move(handler));
}

HandlerRegistry& HandlerRegistry::add_kept(
    std::string name,
    std::shared_ptr<void> function,
    void (*begin)(void* function, const Payload& input, const detail::CompletionPtr& completion)
) {
    return add_async_raw(
        std::move(name),
        [begin, function = std::move(function)](
            const Payload& input, const detail::CompletionPtr& completion
        ) { begin(function.get(), input, completion); }
    );
}

HandlerRegistry& HandlerRegistry::add_raw(std::string name, Handler handler) {
    if (!is_valid_name(name)) {
        throw Error(
            ErrorCode::InvalidArgument,
            fmt::format(
                "\"{}\" cannot be the name of a handler: 1 to {} bytes without spaces are allowed.",
                clean_text(name, DefinitionLimits::kNameBytesMax),
                DefinitionLimits::kNameBytesMax
            )
        );
    }
    if (handler == nullptr) {
        throw Error(
            ErrorCode::InvalidArgument, fmt::format("The handler \"{}\" has no function.", name)
        );
    }
    const auto [found, is_new] = handlers_.emplace(std::move(name), std::move(handler));
    if (!is_new) {
        throw Error(
            ErrorCode::InvalidArgument,
            fmt::format("A handler \"{}\" is already registered.", found->first)
        );
    }
    return *this;
}

HandlerRegistry& HandlerRegistry::add_async_raw(std::string name, AsyncHandler handler) {
    if (handler == nullptr) return add_raw(std::move(name), nullptr);
    add_raw(name, [handler](const Payload& input, const StepContext& context) {
        return wait_for_async(handler, input, context);
    });
    async_.emplace(std::move(name), std::move(handler));
    return *this;
}

const AsyncHandler* HandlerRegistry::find_async(std::string_view name) const {
    const auto found = async_.find(name);
    return found == async_.end() ? nullptr : &found->second;
}

HandlerRegistry& HandlerRegistry::add_transactional_raw(std::string name, Handler handler) {
    add_raw(name, std::move(handler));
    transactional_.insert(std::move(name));
    return *this;
}

HandlerRegistry& HandlerRegistry::set_grace(std::string_view name, Duration grace) {
    if (find(name) == nullptr || grace < Duration::zero()) {
        throw Error(
            ErrorCode::InvalidArgument,
            fmt::format(
                "The grace of the handler \"{}\" cannot be set: {}.",
                clean_text(name, DefinitionLimits::kNameBytesMax),
                find(name) == nullptr ? "there is no handler of that name" : "it is negative"
            )
        );
    }
    graces_.insert_or_assign(std::string(name), grace);
    return *this;
}

Duration HandlerRegistry::grace(std::string_view name) const {
    const auto found = graces_.find(name);
    return found == graces_.end() ? Duration::zero() : found->second;
}

Duration HandlerRegistry::longest_grace() const {
    Duration longest{0};
    for (const auto& [name, grace] : graces_) longest = std::max(longest, grace);
    return longest;
}

const Handler* HandlerRegistry::find(std::string_view name) const {
    const auto found = handlers_.find(name);
    return found == handlers_.end() ? nullptr : &found->second;
}

std::vector<std::string> HandlerRegistry::names() const {
    std::vector<std::string> names;
    for (const auto& [name, handler] : handlers_) names.push_back(name);
    return names;
}

}  // namespace ebb
