#include "engine/checks.h"

#include <fmt/format.h>

#include <ebb/error.h>

#include "core/kernel/state_text.h"
#include "support/assert.h"

namespace ebb::engine {

namespace {

/// One state in so many, where not all are checked.
constexpr Seq kSample = 64;

}  // namespace

bool checks_always() {
#ifdef EBB_CHECKS_ALWAYS
    return true;
#else
    return false;
#endif
}

void check_state(const InstanceState& state, const Program& program) {
    if (!checks_always() && state.last_seq % kSample != 0) return;
    const std::string fault = fault_of(state, program);
    if (fault.empty()) return;
    if (checks_always()) {
        detail::assertion_failed(
            fault.c_str(), "the kernel makes sound states only", std::source_location::current()
        );
    }
    throw Error(
        ErrorCode::Internal,
        fmt::format(
            "The next state of the instance would be corrupt: {}. It is not written; please report "
            "this.",
            fault
        )
    );
}

void end_process(const Log& log, const char* what_must_hold, const std::exception& error) {
    log.error("engine_failed", {{"what", what_must_hold}, {"error", error.what()}});
    detail::assertion_failed(error.what(), what_must_hold, std::source_location::current());
}

}  // namespace ebb::engine
