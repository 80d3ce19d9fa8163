#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/run.h"
#include "support/dice.h"

namespace ebb::sim {

/// What can be wrong with one event of a history, or with what is recorded beside it.
enum class Mutation {
    Drop,
    Duplicate,
    Swap,  ///< with the next
    Type,
    Node,
    Path,
    Visit,
    Attempt,
    Ref,
    Payload,
    End,     ///< the history ends early
    Status,  ///< of the instance
    Task,    ///< one too many, or too few
};
inline constexpr int kMutations = static_cast<int>(Mutation::Task) + 1;

std::string_view to_string(Mutation mutation);

/// The evidence with one such thing made wrong, chosen by the dice. Numbers and references of the
/// later events are as if it had always been so. Nothing: the choice would have changed nothing.
std::optional<Evidence> mutate(const Evidence& evidence, Mutation mutation, test::Dice& dice);

/// One event taken out, or put in before the event `seq`, with all numbers made right.
void drop_event(std::vector<HistoryEntry>& history, std::int64_t seq);
void insert_event(std::vector<HistoryEntry>& history, std::int64_t seq, HistoryEntry entry);

/// Both stay what they are and change their places.
void swap_events(std::vector<HistoryEntry>& history, std::int64_t a, std::int64_t b);

}  // namespace ebb::sim
