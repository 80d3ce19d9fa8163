#pragma once

#include "sim/run.h"

namespace ebb::sim {

/// Requests that came as mail: each is decided at most once, however often it was sent, and none is
/// left while the instance lives. Throws Wrong.
void check_mail(const Evidence& evidence);

}  // namespace ebb::sim
