#include "call/mail_text.h"

#include <cstdint>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <ebb/error.h>

#include "call/request.h"

namespace ebb {

namespace {

constexpr std::string_view kSignal = "signal";
constexpr std::string_view kDecision = "decision";
constexpr std::string_view kCancel = "cancel";
constexpr std::string_view kWrite = "write";
constexpr std::string_view kRecover = "recover";
constexpr std::string_view kRematch = "rematch";
constexpr std::string_view kStop = "stop";
constexpr std::string_view kConfirm = "confirm";
constexpr std::string_view kReject = "reject";

struct Written {
    std::string_view kind;
    Json body;
};

Written written(const event::SignalReceived& signal) {
    return {
        .kind = kSignal,
        .body =
            {{"name", signal.name},
             {"payload", std::string(signal.payload)},
             {"by", signal.by},
             {"request_id", signal.request_id}}
    };
}

Written written(const event::DecisionMade& decision) {
    return {
        .kind = kDecision,
        .body =
            {{"node", decision.node},
             {"verdict", decision.is_confirmed ? kConfirm : kReject},
             {"by", decision.by},
             {"role", decision.role},
             {"comment", decision.comment},
             {"request_id", decision.request_id}}
    };
}

Written written(const event::CancelRequested& cancel) {
    return {.kind = kCancel, .body = {{"by", cancel.by}, {"reason", cancel.reason}}};
}

Written written(const event::AttributesWritten& write) {
    return {
        .kind = kWrite,
        .body =
            {{"values", std::string(write.values)},
             {"by", write.by},
             {"request_id", write.request_id}}
    };
}

Written written(const event::RecoverRequested& recovery) {
    return {
        .kind = kRecover,
        .body =
            {{"to", recovery.to},
             {"then", recovery.stops ? kStop : kRematch},
             {"by", recovery.by},
             {"request_id", recovery.request_id}}
    };
}

template <class Other>
Written written(const Other&) {
    throw Error(
        ErrorCode::InvalidArgument,
        "Only a signal, a decision, a cancel, a write or a recovery can be sent as mail."
    );
}

Written written_of(const Event& request) {
    return std::visit([](const auto& event) { return written(event); }, request);
}

/// The members, each with a default for what is missing. A member of another type throws.
class Members {
 public:
    explicit Members(const Json& json) : json_(json) {}

    std::string text(const char* name) const { return json_.value(name, std::string()); }

    Payload payload(const char* name) const { return Payload::text(text(name)); }

    std::int64_t number(const char* name) const { return json_.value(name, std::int64_t{0}); }

 private:
    const Json& json_;
};

Event decision_of(const Members& members) {
    using Verdict = PersonalDecision::Verdict;
    const std::string verdict = members.text("verdict");
    if (verdict != kConfirm && verdict != kReject) {
        throw Error(
            ErrorCode::InvalidArgument,
            fmt::format("The verdict \"{}\" is not `confirm` or `reject`.", verdict)
        );
    }
    PersonalDecision decision;
    decision.verdict = verdict == kConfirm ? Verdict::Confirm : Verdict::Reject;
    decision.node = members.text("node");
    decision.by = members.text("by");
    decision.role = members.text("role");
    decision.comment = members.text("comment");
    decision.request_id = members.text("request_id");
    return make_decision(decision);
}

Event recovery_of(const Members& members) {
    const std::string then = members.text("then");
    if (then != kRematch && then != kStop) {
        throw Error(
            ErrorCode::InvalidArgument,
            fmt::format("A recovery ends with `rematch` or `stop`, not with \"{}\".", then)
        );
    }
    return make_recovery(
        members.number("to"), then == kStop, members.text("by"), members.text("request_id")
    );
}

Event request_of(std::string_view kind, const Members& members, const PayloadLimits& limits) {
    if (kind == kStartMail) {
        Payload input = members.payload("input");
        check_payload(input, "The input", limits);
        return event::Started{.input = std::move(input), .by = clean_name(members.text("by"))};
    }
    if (kind == kSignal) {
        return make_signal(
            members.text("name"),
            members.payload("payload"),
            {.by = members.text("by"), .request_id = members.text("request_id")},
            limits
        );
    }
    if (kind == kDecision) return decision_of(members);
    if (kind == kCancel) return make_cancel(members.text("by"), members.text("reason"));
    if (kind == kRecover) return recovery_of(members);
    if (kind == kWrite) {
        return make_write(
            members.payload("values"),
            {.by = members.text("by"), .request_id = members.text("request_id")},
            limits
        );
    }
    throw Error(
        ErrorCode::InvalidArgument, fmt::format("Mail of the kind \"{}\" is unknown.", kind)
    );
}

}  // namespace

std::string_view mail_kind(const Event& request) {
    return written_of(request).kind;
}

std::string encode_mail(const Event& request) {
    return to_text(written_of(request).body);
}

Event decode_mail(std::string_view kind, std::string_view body, const PayloadLimits& limits) {
    const Json json = Json::parse(body, nullptr, false);
    if (!json.is_object()) {
        throw Error(ErrorCode::InvalidPayload, "The body of the mail is not a JSON object.");
    }
    try {
        return request_of(kind, Members(json), limits);
    } catch (const Json::exception& error) {
        throw Error(
            ErrorCode::InvalidPayload,
            fmt::format("The body of the mail has a member of another type: {}", error.what())
        );
    }
}

}  // namespace ebb
