#include <ebb/definition.h>
#include <ebb/rules.h>

#include "core/model/words.h"

namespace ebb {

using model::word_of;

std::string_view to_string(Backoff::Strategy strategy) {
    return word_of(model::kStrategyWords, strategy);
}

std::string_view to_string(Parallel::Losers losers) {
    return word_of(model::kLosersWords, losers);
}

std::string_view to_string(HumanDecision::OnDeadline on_deadline) {
    return word_of(model::kDecisionDeadlineWords, on_deadline);
}

std::string_view to_string(Signal::OnDeadline on_deadline) {
    return word_of(model::kSignalDeadlineWords, on_deadline);
}

std::string_view to_string(Savepoint::OnRollback on_rollback) {
    return word_of(model::kRollbackWords, on_rollback);
}

std::string_view to_string(NodeGraph::Unmatched unmatched) {
    return word_of(model::kUnmatchedWords, unmatched);
}

std::string_view to_string(Definition::OnError on_error) {
    return word_of(model::kOnErrorWords, on_error);
}

std::string_view to_string(AttributeType type) {
    return word_of(model::kAttributeTypeWords, type);
}

std::string_view to_string(Trigger::Mode mode) {
    return word_of(model::kTriggerModeWords, mode);
}

std::string_view to_string(Rules::OnException on_exception) {
    // A handler is not written as a word, but as a node.
    if (on_exception == Rules::OnException::Handle) return "handle";
    return word_of(model::kOnExceptionWords, on_exception);
}

std::string_view to_string(Rules::OnIdle on_idle) {
    return word_of(model::kOnIdleWords, on_idle);
}

std::string_view to_string(Rules::FinalWhilePending final_while_pending) {
    return word_of(model::kFinalWhilePendingWords, final_while_pending);
}

std::string_view to_string(Rules::ExternalWrites external_writes) {
    return word_of(model::kExternalWritesWords, external_writes);
}

std::string_view to_string(Rules::Evolution evolution) {
    return word_of(model::kEvolutionWords, evolution);
}

}  // namespace ebb
