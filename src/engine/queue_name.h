#pragma once

#include <string_view>

namespace ebb::engine {

/// Throws InvalidArgument, with what is allowed, for what cannot be a queue's name.
void check_queue_name(std::string_view name);

}  // namespace ebb::engine
