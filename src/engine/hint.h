#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <ebb/id.h>
#include <ebb/time.h>

namespace ebb::engine {

/// What one process tells all others about what it has changed.
struct Hint {
    struct Work {
        std::string handler;
        std::string queue;
        TimePoint due{};

        bool operator==(const Work&) const = default;
    };

    std::vector<Work> work;         ///< tasks that any worker may claim when they are due
    bool is_any_work = false;       ///< there is more, of whatever handler
    std::vector<InstanceId> stops;  ///< whose handlers are no longer waited for

    bool is_empty() const { return work.empty() && !is_any_work && stops.empty(); }

    bool operator==(const Hint&) const = default;

    static constexpr std::size_t kWorkMax = 16;
    static constexpr std::size_t kStopsMax = 64;
};

/// JSON of at most Hints::kMessageBytesMax: if the work does not fit, the hint says any work.
std::string encode_hint(const Hint& hint);

/// Empty if encode_hint did not write it, for example because it has another version.
std::optional<Hint> decode_hint(std::string_view text);

}  // namespace ebb::engine
