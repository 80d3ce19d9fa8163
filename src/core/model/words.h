#pragma once

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include <ebb/definition.h>

// The words of the JSON form: one table for each enum, used by the reader and the writer.

namespace ebb::model {

template <typename Enum>
struct Word {
    std::string_view text;
    Enum value;
};

inline constexpr std::array<Word<Definition::OnError>, 3> kOnErrorWords = {{
    {"compensate", Definition::OnError::Compensate},
    {"dead_letter", Definition::OnError::DeadLetter},
    {"exception", Definition::OnError::Exception},
}};

inline constexpr std::array<Word<Backoff::Strategy>, 3> kStrategyWords = {{
    {"fixed", Backoff::Strategy::Fixed},
    {"linear", Backoff::Strategy::Linear},
    {"exponential", Backoff::Strategy::Exponential},
}};

inline constexpr std::array<Word<Parallel::Losers>, 2> kLosersWords = {{
    {"compensate", Parallel::Losers::Compensate},
    {"keep", Parallel::Losers::Keep},
}};

inline constexpr std::array<Word<HumanDecision::OnDeadline>, 3> kDecisionDeadlineWords = {{
    {"fail", HumanDecision::OnDeadline::Fail},
    {"confirm", HumanDecision::OnDeadline::Confirm},
    {"reject", HumanDecision::OnDeadline::Reject},
}};

inline constexpr std::array<Word<Signal::OnDeadline>, 2> kSignalDeadlineWords = {{
    {"fail", Signal::OnDeadline::Fail},
    {"continue", Signal::OnDeadline::Continue},
}};

inline constexpr std::array<Word<NodeGraph::Unmatched>, 2> kUnmatchedWords = {{
    {"fail", NodeGraph::Unmatched::Fail},
    {"complete", NodeGraph::Unmatched::Complete},
}};

inline constexpr std::array<Word<Savepoint::OnRollback>, 2> kRollbackWords = {{
    {"fail", Savepoint::OnRollback::Fail},
    {"resume", Savepoint::OnRollback::Resume},
}};

inline constexpr std::array<Word<AttributeType>, 9> kAttributeTypeWords = {{
    {"text", AttributeType::Text},
    {"boolean", AttributeType::Boolean},
    {"integer", AttributeType::Integer},
    {"double", AttributeType::Double},
    {"numeric", AttributeType::Numeric},
    {"timestamp", AttributeType::Timestamp},
    {"date", AttributeType::Date},
    {"uuid", AttributeType::Uuid},
    {"json", AttributeType::Document},
}};

inline constexpr std::array<Word<Trigger::Mode>, 3> kTriggerModeWords = {{
    {"level", Trigger::Mode::Level},
    {"edge", Trigger::Mode::Edge},
    {"once", Trigger::Mode::Once},
}};

inline constexpr std::array<Word<Rules::OnException>, 2> kOnExceptionWords = {{
    {"dead_letter", Rules::OnException::DeadLetter},
    {"compensate", Rules::OnException::Compensate},
}};

inline constexpr std::array<Word<Rules::OnIdle>, 2> kOnIdleWords = {{
    {"exception", Rules::OnIdle::Exception},
    {"wait", Rules::OnIdle::Wait},
}};

inline constexpr std::array<Word<Rules::FinalWhilePending>, 3> kFinalWhilePendingWords = {{
    {"wait", Rules::FinalWhilePending::Wait},
    {"refuse", Rules::FinalWhilePending::Refuse},
    {"stop", Rules::FinalWhilePending::Stop},
}};

inline constexpr std::array<Word<Rules::Evolution>, 2> kEvolutionWords = {{
    {"pin", Rules::Evolution::Pin},
    {"follow", Rules::Evolution::Follow},
}};

inline constexpr std::array<Word<Rules::ExternalWrites>, 3> kExternalWritesWords = {{
    {"declared", Rules::ExternalWrites::Declared},
    {"all", Rules::ExternalWrites::All},
    {"none", Rules::ExternalWrites::None},
}};

template <typename Enum, std::size_t N>
constexpr std::string_view word_of(const std::array<Word<Enum>, N>& words, Enum value) {
    const auto found = std::find_if(words.begin(), words.end(), [value](const Word<Enum>& word) {
        return word.value == value;
    });
    return found == words.end() ? words.front().text : found->text;
}

/// The candidate that `text` is most likely a misspelling of; empty when none is near.
std::string_view closest(std::string_view text, std::span<const std::string_view> candidates);

/// ` Did you mean "x"?` or, if nothing is near, ` Known are a, b, c.` (the first few).
std::string hint(std::string_view text, std::span<const std::string_view> candidates);

/// The cure for JSON text of a C++ program that is an expression without quotes; empty if it is
/// something else.
std::string_view quotes_hint(std::string_view json);

/// `text` for a message: quoted, cut, without control characters.
std::string in_quotes(std::string_view text);

/// One segment of a JSON pointer.
std::string escape_pointer(std::string_view key);

}  // namespace ebb::model
