#include "call/entry_handlers.h"

#include <utility>
#include <vector>

#include <fmt/format.h>

#include "call/completion.h"
#include "call/contract.h"
#include "call/late_input.h"
#include "call/typed_handler.h"
#include "core/model/late_text.h"
#include "core/model/walk.h"
#include "core/model/words.h"
#include "support/json.h"

namespace ebb {

namespace {

[[noreturn]] void fail_for_good(const char* code, const std::string& message) {
    throw HandlerFailure(
        message, {.code = code, .is_permanent = true, .retry_after = {}, .details = {}}
    );
}

}  // namespace

/// What one definition says about the calls of its handlers.
class EntryTerms {
 public:
    explicit EntryTerms(const Definition& definition) {
        for (const auto& [name, spec] : definition.handlers) note_entry(name, spec);
        const model::Walk walk(definition);
        for (const model::Placed& placed : walk.nodes()) {
            const auto* step = std::get_if<Step>(&placed.node->kind);
            if (step == nullptr) continue;
            auto late = model::late_texts(step->input);
            if (!late.empty()) late_.emplace(placed.node->name, std::move(late));
        }
    }

    /// Null if the handler has no contract. Throws HandlerFailure if it has one that cannot be
    /// used.
    std::shared_ptr<const Contract> contract_of(const std::string& handler) const {
        const auto found = entries_.find(handler);
        if (found == entries_.end()) return nullptr;
        if (!found->second.problem.empty()) fail_for_good("invalid_schema", found->second.problem);
        return found->second.contract;
    }

    /// Throws HandlerFailure if a late expression of the definition would be sent as text.
    void require_no_late(const Payload& input, const StepContext& context) const {
        const auto found = late_.find(context.step);
        if (found == late_.end() || context.compensates) return;
        const Json data = Json::parse(input, nullptr, false);
        for (const model::LateText& late : found->second) {
            // An operator may have given another input.
            if (!data.contains(late.at)) continue;
            const std::optional<std::string> text = text_at_call(late.text);
            if (text && data[late.at] != *text) continue;
            fail_for_good(
                "late_expression",
                fmt::format(
                    "Nothing fills in globals, secrets or payload for the handler {}, so the text "
                    "at {} of the input of {} would be sent as it is. Register the handler with "
                    "NodeTypes and bind the definition.",
                    model::in_quotes(context.handler),
                    late.at.empty() ? "/" : late.at.to_string(),
                    model::in_quotes(context.step)
                )
            );
        }
    }

 private:
    struct Entry {
        std::shared_ptr<const Contract> contract;
        std::string problem;  ///< why it cannot be used
    };

    void note_entry(const std::string& name, const Payload& spec) {
        Json entry = Json::parse(spec, nullptr, false);
        if (!entry.is_object()) return;
        // The handlers that are made from such an entry have opened the envelope themselves.
        const bool is_made = entry.contains("exec") || entry.contains("http");
        std::vector<Diagnostic> problems;
        HandlerContract declared =
            take_contract(entry, "/handlers/" + model::escape_pointer(name), problems);
        if (!problems.empty()) {
            entries_[name].problem =
                fmt::format("{}: {}", problems.front().path, problems.front().message);
            return;
        }
        if (is_made) declared.type.result = NodeType::Result::Output;
        if (!declared.is_empty()) {
            entries_[name].contract = std::make_shared<const Contract>(name, declared);
        }
    }

    std::map<std::string, Entry> entries_;
    std::map<std::string, std::vector<model::LateText>> late_;
};

namespace {

/// A handler of the application, called as the definition demands.
struct HeldHandler {
    const Handler* handler;  ///< in the registry
    std::shared_ptr<const EntryTerms> terms;

    Payload operator()(const Payload& input, const StepContext& context) const {
        const auto contract = terms->contract_of(context.handler);
        if (const auto* typed = handler->target<TypedHandler>()) {
            if (!typed->calls->is_bound(context)) terms->require_no_late(input, context);
            return typed->calls->call(input, context, contract.get());
        }
        terms->require_no_late(input, context);
        if (contract == nullptr) return (*handler)(input, context);
        return contract->fulfil((*handler)(contract->accept(input, context), context), context);
    }
};

struct HeldAsyncHandler {
    const AsyncHandler* handler;
    std::shared_ptr<const EntryTerms> terms;

    void operator()(const Payload& input, const detail::CompletionPtr& completion) const {
        const StepContext& context = detail::context_of(*completion);
        const auto contract = terms->contract_of(context.handler);
        if (const auto* typed = handler->target<TypedAsyncHandler>()) {
            if (!typed->calls->is_bound(context)) terms->require_no_late(input, context);
            return typed->calls->begin(input, completion, contract);
        }
        terms->require_no_late(input, context);
        if (contract == nullptr) return (*handler)(input, completion);
        begin_inner_async(
            *handler,
            contract->accept(input, context),
            completion,
            [contract](const AsyncCall::End& end, const StepContext& ended) {
                if (end.error) std::rethrow_exception(end.error);
                return contract->fulfil(end.output, ended);
            }
        );
    }
};

/// A pointer to what the registry owns.
template <typename Function>
std::shared_ptr<const Function> as_registered(const Function* function) {
    return {std::shared_ptr<const void>(), function};
}

}  // namespace

EntryHandlers::Terms EntryHandlers::terms_of(const Program& program) const {
    const Definition& definition = program.definition();
    const Lock lock(mutex_);
    if (known_.size() >= kDefinitionsMax) known_.clear();
    Terms& terms = known_[{definition.name, definition.version}];
    if (terms == nullptr) terms = std::make_shared<const EntryTerms>(definition);
    return terms;
}

std::shared_ptr<const Handler> EntryHandlers::find(const Program& program, const std::string& name)
    const {
    return held(program, name, registry_.find(name));
}

std::shared_ptr<const Handler> EntryHandlers::held(
    const Program& program, const std::string& name, const Handler* registered
) const {
    if (registered == nullptr || !program.has_call_terms()) return as_registered(registered);
    if (auto async = find_async(program, name)) {
        return std::make_shared<const Handler>(
            [async](const Payload& input, const StepContext& context) {
                return wait_for_async(*async, input, context);
            }
        );
    }
    return std::make_shared<const Handler>(
        HeldHandler{.handler = registered, .terms = terms_of(program)}
    );
}

std::shared_ptr<const AsyncHandler> EntryHandlers::find_async(
    const Program& program, const std::string& name
) const {
    const AsyncHandler* handler = registry_.find_async(name);
    if (handler == nullptr || !program.has_call_terms()) return as_registered(handler);
    return std::make_shared<const AsyncHandler>(
        HeldAsyncHandler{.handler = handler, .terms = terms_of(program)}
    );
}

}  // namespace ebb
