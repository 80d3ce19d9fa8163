#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <ebb/instance.h>
#include <ebb/label.h>
#include <ebb/time.h>
#include <ebb/triage.h>

#include "core/expression/expression.h"

// Filters of instances: a part of the expression language that databases can answer, too.

namespace ebb::filter {

/// The named limits of a filter; each has a test at the limit and one above it.
struct Limits {
    static constexpr std::size_t kSourceBytesMax = 4'096;
    static constexpr int kComparisonsMax = 32;
    static constexpr std::size_t kAlternativesMax = 16;  ///< of one `||`, and of one list
    static constexpr int kDepthMax = 32;
};

/// What a comparison reads of an instance.
struct Field {
    enum class Kind {
        Id,
        Workflow,
        Version,
        Status,
        Key,
        Priority,
        Created,
        Updated,
        Finished,
        ErrorCode,
        ErrorStep,
        ErrorGroup,
        Label,
    };

    Kind kind = Kind::Id;
    std::string label{};  ///< the name of a label

    bool operator==(const Field&) const = default;
};

enum class Operator {
    Equal,
    NotEqual,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    StartsWith,
    Exists,  ///< it is there, whatever its value and type
};

/// A condition without unknowns: a comparison with what an instance does not have, or has with
/// another type, is false, whatever its operator.
struct Condition {
    enum class Kind { Constant, Compare, And, Or, Not };

    Kind kind = Kind::Constant;
    bool value = true;  ///< of a constant
    // Of a comparison.
    Field field{};
    Operator op = Operator::Equal;
    LabelValue operand{};
    std::vector<Condition> parts{};  ///< of And and Or: at least two; of Not: one

    bool operator==(const Condition&) const = default;
};

/// Compiles a filter. `now` is the value of the variable of this name. Throws ExpressionError, with
/// the place, for what does not compile or what no database can answer.
Condition compile(std::string_view source, TimePoint now);

/// What a condition may read.
struct Subject {
    std::string id;
    std::string_view workflow;
    int version = 1;
    InstanceStatus status = InstanceStatus::Running;
    std::string_view key;
    int priority = 0;
    TimePoint created_at{};
    TimePoint updated_at{};
    TimePoint finished_at{};               ///< zero = it has not ended
    const FailureNote* failure = nullptr;  ///< null = none
    const Labels* labels = nullptr;
};

bool holds(const Condition& condition, const Subject& subject);

/// A comparison that holds for every instance that `condition` holds for, and that an index of
/// labels finds: the equality of a label. Null = there is none.
const Condition* driving_label(const Condition& condition);

}  // namespace ebb::filter
