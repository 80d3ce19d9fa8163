#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/kernel/event.h"
#include "engine/environment.h"
#include "engine/live_instance.h"
#include "store/store.h"

namespace ebb::engine {

/// Unread mail, read as the event that it makes happen.
struct Letter {
    MailKey key;
    std::string kind;
    std::optional<Event> event;  ///< none: `fault` says why it cannot be read
    std::string fault;
};

/// The mail that came with a claim of kMailTask.
struct Letters {
    std::vector<Letter> all;    ///< the oldest first
    std::int64_t revision = 0;  ///< of the instance when they were unread
    bool has_more = false;      ///< there is more in the store
};

/// What a cause of a turn remembers of the mail that it was made of.
struct Postmark {
    MailKey key;
    std::string kind;
    std::string fault;
    std::int64_t revision = 0;
    bool is_received = false;  ///< it was decided in this turn
};

/// Throws nothing because of what the mail says: that is a fault of one letter.
Letters read_letters(const Claim& claim, const Program& program, const Environment& environment);

/// False: a commit of another process may have decided mail that was unread at that revision, so
/// that it must be read again.
inline bool is_unread_since(std::int64_t revision, const LiveInstance& live) {
    return live.base_revision <= revision && revision <= live.row.revision;
}

}  // namespace ebb::engine
