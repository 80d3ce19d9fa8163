#pragma once

#include <string>

#include "player.h"

// The view `steps` beside the engine's own reading of the same instance: a line each visit.

namespace ebb::golden {

std::string steps_shown(Player& player);
std::string steps_in_sqlite(const std::string& path, const InstanceId& id);
std::string steps_in_postgres(const std::string& schema, const InstanceId& id);

}  // namespace ebb::golden
