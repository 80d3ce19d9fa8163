#include "call/refusal.h"

#include <ebb/error.h>

namespace ebb {

namespace {

ErrorCode code_of(const std::string& refusal) {
    if (refusal == "not_waiting") return ErrorCode::NotWaiting;
    if (refusal == "not_allowed") return ErrorCode::NotAllowed;
    if (refusal == "revision_changed") return ErrorCode::RevisionChanged;
    if (refusal == "limit_exceeded") return ErrorCode::LimitExceeded;
    if (refusal == "invalid_argument") return ErrorCode::InvalidArgument;
    if (refusal == "payload_too_large") return ErrorCode::PayloadTooLarge;
    for (const char* of_values :
         {"invalid_payload",
          "invalid_value",
          "invalid_output",
          "unknown_attribute",
          "expression_error"}) {
        if (refusal == of_values) return ErrorCode::InvalidPayload;
    }
    return ErrorCode::InvalidState;
}

}  // namespace

void throw_refusal(const Decision::Refusal& refusal) {
    throw Error(code_of(refusal.code), refusal.message);
}

}  // namespace ebb
