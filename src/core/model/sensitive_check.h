#pragma once

#include <ebb/definition.h>

#include "core/model/check.h"

// The key `sensitive` of a definition.

namespace ebb::model {

/// How many pointers there are, and that each is one.
void check_sensitive(Findings& findings, const Definition& definition);

}  // namespace ebb::model
