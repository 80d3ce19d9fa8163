#pragma once

namespace ebb {

/// From now on, this process leaves no core dump, and no other process of its user can read its
/// memory: both would reveal its secrets. Programs that it starts are not affected, except that
/// they inherit a soft limit of 0 for the size of core dumps.
void forbid_core_dumps() noexcept;

}  // namespace ebb
