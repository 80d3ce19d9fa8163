#pragma once

#include "engine/environment.h"
#include "engine/inbox.h"

namespace ebb::engine {

/// Calls the transactional handler of a Running attempt in this thread, and commits what it did
/// together with the end of its step. A failure is an ordinary Outcome. Throws Error where no
/// transaction could be begun or the input not be read: then nothing was called.
Item run_in_transaction(Environment& environment, const AttemptPtr& attempt);

}  // namespace ebb::engine
