#pragma once

#include <string>

#include <ebb/clock.h>

namespace ebb {

/// Names what the steady times of the clock are counted from: two processes may compare theirs if
/// both have the same name. For the system's clock, one boot of one machine's kernel, and one time
/// namespace in it (containers share it unless they are given another). Where the system does not
/// say, and for clocks of tests, no other process has the same name.
std::string frame_of(const Clock& clock);

}  // namespace ebb
