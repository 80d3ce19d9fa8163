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
    return ErrorCode::InvalidState;
}

}  // namespace

void throw_refusal(const Decision::Refusal& refusal) {
    throw Error(code_of(refusal.code), refusal.message);
}

}  // namespace ebb
