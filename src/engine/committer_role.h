#pragma once

#include "support/role.h"

namespace ebb::engine {

/// The right to be the committer of an engine: one thread at a time has it, from Inbox::try_enter
/// until it leaves. What is decided, written and held belongs to this thread, without a lock.
inline constexpr Role kCommitter;

}  // namespace ebb::engine
