#pragma once

#include <string>

#include <ebb/engine.h>

namespace ebb::cli {

/// How the instance that has the key already differs from the one that was asked for, as sentences
/// with a space in front; empty if it does not.
std::string known_key_difference(const StartedInstance& started);

}  // namespace ebb::cli
