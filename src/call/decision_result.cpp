#include <ebb/fields.h>
#include <ebb/instance.h>

#include "support/clock.h"

namespace ebb {

std::string_view to_string(PersonalDecision::Verdict verdict) {
    return verdict == PersonalDecision::Verdict::Confirm ? "confirm" : "reject";
}

std::string_view to_string(DecisionResult::Verdict verdict) {
    return verdict == DecisionResult::Verdict::Confirmed ? "confirmed" : "rejected";
}

namespace {

using Verdict = DecisionResult::Verdict;

constexpr Verdict kVerdicts[] = {Verdict::Confirmed, Verdict::Rejected};
constexpr const char* kVerdictNames[] = {"confirmed", "rejected"};

/// A time, as the engine writes it.
struct WrittenTime {
    TimePoint& time;

    friend void ebb_read(const ValueReader& json, WrittenTime& value) {
        const auto parsed = parse_time(json.string());
        if (!parsed) json.refuse("must be a time, as in \"2026-11-21T08:30:00Z\"");
        value.time = *parsed;
    }
};

struct WrittenVerdict {
    Verdict& verdict;

    friend void ebb_read(const ValueReader& json, WrittenVerdict& value) {
        detail::read_enum(json, kVerdicts, kVerdictNames, value.verdict);
    }
};

}  // namespace

void ebb_read(const ValueReader& json, DecisionResult& decision) {
    WrittenVerdict verdict{decision.verdict};
    WrittenTime at{decision.at};
    json.member("verdict", verdict);
    json.member("by", decision.by);
    json.member("comment", decision.comment);
    json.member("at", at);
}

void ebb_write(ValueWriter& json, const DecisionResult& decision) {
    json.begin_object();
    json.member("verdict", std::string(to_string(decision.verdict)));
    json.member("by", decision.by);
    json.member("comment", decision.comment);
    json.member("at", format_time(decision.at));
}

}  // namespace ebb
