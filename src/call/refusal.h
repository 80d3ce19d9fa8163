#pragma once

#include "core/kernel/decision.h"

namespace ebb {

/// Throws the Error that a refused decision is to its caller.
[[noreturn]] void throw_refusal(const Decision::Refusal& refusal);

}  // namespace ebb
