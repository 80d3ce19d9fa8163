#include "engine/store_trouble.h"

#include <algorithm>
#include <chrono>
#include <string>

#include <ebb/error.h>

namespace ebb::engine {

namespace {

constexpr Duration kRetryMin = std::chrono::milliseconds(20);
constexpr Duration kRetryMax = std::chrono::seconds(2);

Duration retry_pause(int failures) {
    return std::min(kRetryMax, kRetryMin * (1 << std::min(failures, 10)));
}

}  // namespace

void StoreTrouble::begin(SteadyPoint now, const std::exception& error) {
    retry_at_ = now + (is_denial(error) ? kDenialPause : retry_pause(failures_++));
    error_ = std::make_exception_ptr(Error(
        ErrorCode::StoreUnavailable, std::string("The store does not answer: ") + error.what()
    ));
    if (const auto* known = dynamic_cast<const Error*>(&error)) {
        error_ = std::make_exception_ptr(*known);
    }
    is_new_ = true;
    environment_.report("commit_delayed", error);
}

}  // namespace ebb::engine
