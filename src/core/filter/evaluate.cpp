#include <algorithm>

#include "core/filter/filter.h"

namespace ebb::filter {

namespace {

template <typename T>
bool compares(Operator op, const T& left, const T& right) {
    switch (op) {
        case Operator::Equal:
            return left == right;
        case Operator::NotEqual:
            return left != right;
        case Operator::Less:
            return left < right;
        case Operator::LessEqual:
            return left <= right;
        case Operator::Greater:
            return left > right;
        case Operator::GreaterEqual:
            return left >= right;
        default:
            return false;
    }
}

bool text_holds(const Condition& condition, std::string_view text) {
    if (condition.op == Operator::Exists) return true;
    const std::string_view operand = condition.operand.text();
    if (condition.op == Operator::StartsWith) return text.starts_with(operand);
    return compares(condition.op, text, operand);
}

bool number_holds(const Condition& condition, double number) {
    return condition.op == Operator::Exists ||
           compares(condition.op, number, condition.operand.number());
}

/// Zero: there is none.
bool time_holds(const Condition& condition, TimePoint time) {
    if (time == TimePoint{}) return false;
    return condition.op == Operator::Exists ||
           compares(condition.op, time, condition.operand.time());
}

bool label_holds(const Condition& condition, const Subject& subject) {
    if (subject.labels == nullptr) return false;
    const auto found = subject.labels->find(condition.field.label);
    if (found == subject.labels->end()) return false;
    const LabelValue& value = found->second;
    if (condition.op == Operator::Exists) return true;
    if (value.type() != condition.operand.type()) return false;
    switch (value.type()) {
        case LabelType::Text:
            return text_holds(condition, value.text());
        case LabelType::Number:
            return number_holds(condition, value.number());
        case LabelType::Bool:
            return compares(condition.op, value.boolean(), condition.operand.boolean());
        case LabelType::Time:
            return compares(condition.op, value.time(), condition.operand.time());
    }
    return false;
}

bool comparison_holds(const Condition& condition, const Subject& subject) {
    using Kind = Field::Kind;
    const FailureNote* const failure = subject.failure;
    switch (condition.field.kind) {
        case Kind::Id:
            return text_holds(condition, subject.id);
        case Kind::Workflow:
            return text_holds(condition, subject.workflow);
        case Kind::Version:
            return number_holds(condition, subject.version);
        case Kind::Status:
            return text_holds(condition, to_string(subject.status));
        case Kind::Key:
            return text_holds(condition, subject.key);
        case Kind::Priority:
            return number_holds(condition, subject.priority);
        case Kind::Created:
            return time_holds(condition, subject.created_at);
        case Kind::Updated:
            return time_holds(condition, subject.updated_at);
        case Kind::Finished:
            return time_holds(condition, subject.finished_at);
        case Kind::ErrorCode:
            return failure != nullptr && text_holds(condition, failure->code);
        case Kind::ErrorStep:
            return failure != nullptr && !failure->step.empty() &&
                   text_holds(condition, failure->step);
        case Kind::ErrorGroup:
            return failure != nullptr && text_holds(condition, failure->group);
        case Kind::Label:
            return label_holds(condition, subject);
    }
    return false;
}

}  // namespace

bool holds(const Condition& condition, const Subject& subject) {
    const auto part_holds = [&](const Condition& part) { return holds(part, subject); };
    const auto& parts = condition.parts;
    switch (condition.kind) {
        case Condition::Kind::Constant:
            return condition.value;
        case Condition::Kind::Compare:
            return comparison_holds(condition, subject);
        case Condition::Kind::And:
            return std::all_of(parts.begin(), parts.end(), part_holds);
        case Condition::Kind::Or:
            return std::any_of(parts.begin(), parts.end(), part_holds);
        case Condition::Kind::Not:
            return !holds(parts.front(), subject);
    }
    return false;
}

const Condition* driving_label(const Condition& condition) {
    const auto is_driving = [](const Condition& part) {
        return part.kind == Condition::Kind::Compare && part.field.kind == Field::Kind::Label &&
               part.op == Operator::Equal;
    };
    if (is_driving(condition)) return &condition;
    if (condition.kind != Condition::Kind::And) return nullptr;
    const auto found = std::find_if(condition.parts.begin(), condition.parts.end(), is_driving);
    return found == condition.parts.end() ? nullptr : &*found;
}

}  // namespace ebb::filter
