#pragma once

#include <functional>
#include <string>

#include "cli/session.h"

namespace ebb::cli {

/// What one look has found.
struct Watched {
    std::string picture{};  ///< empty: nothing new
    bool is_over = false;   ///< there will be nothing more
};

/// Looks every `every` until it is over or Ctrl-C. On a terminal each picture takes the place of
/// the one before it, cut to the height of the window; the last one stays. Elsewhere they follow
/// one another, with an empty line between. Throws if the
/// database does not answer the first time, as for a misspelled name; later, it is tried again.
int watch(Session& session, Duration every, const std::function<void(Watched&)>& look);

}  // namespace ebb::cli
