#include "cli/patience.h"

#include <algorithm>

#include <fmt/format.h>

#include "cli/text.h"

namespace ebb::cli {

namespace {

constexpr Duration kPauseMin = std::chrono::milliseconds(100);
constexpr Duration kPauseMax = std::chrono::seconds(5);

}  // namespace

void Patience::miss(const Error& error) {
    pause_ = failure_ ? std::min(pause_ * 2, kPauseMax) : kPauseMin;
    const bool is_new = !failure_;
    failure_ = error;
    if (is_new) {
        tell_(fmt::format(
            "The database is out of reach. Trying again until it answers: {}",
            one_line(error.what())
        ));
    }
}

void Patience::mend() {
    failure_.reset();
    pause_ = Duration{0};
    tell_("The database answers again.");
}

}  // namespace ebb::cli
