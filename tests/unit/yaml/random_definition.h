#pragma once

#include <rapidcheck.h>

#include <ebb/definition.h>

namespace ebb::test {

/// A valid definition with nodes of all kinds, nested, and texts that are hard to write. Only
/// within a property.
Definition random_definition();

}  // namespace ebb::test
