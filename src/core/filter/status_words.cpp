#include "core/filter/status_words.h"

#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <ebb/status.h>

#include "core/expression/names.h"
#include "support/json.h"

namespace ebb::filter {

std::string unknown_status(std::string_view text) {
    // Lists show it; it is read from the whole state of an instance, which no filter reads.
    if (text == "waiting") {
        return "\"waiting\" is not a stored status: an instance that waits has the status "
               "\"running\". Filter by \"running\"; `ebb list --status waiting` shows only those "
               "that wait.";
    }
    constexpr std::size_t kShownBytesMax = 80;
    std::vector<std::string_view> names;
    for (int i = 0; i <= static_cast<int>(InstanceStatus::Aborted); ++i) {
        names.push_back(to_string(static_cast<InstanceStatus>(i)));
    }
    return fmt::format(
        "\"{}\" is not a status; the statuses are {}.{}",
        clean_text(text, kShownBytesMax),
        fmt::join(names, ", "),
        expression::did_you_mean(text, names)
    );
}

}  // namespace ebb::filter
