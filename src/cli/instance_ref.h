#pragma once

#include <string_view>

#include <ebb/engine.h>

namespace ebb::cli {

/// How short a prefix of an id may be.
inline constexpr std::size_t kIdPrefixMin = 4;

/// The instance that `text` names: a whole id, a prefix that only one id has (with or without
/// dashes), or `key:WORKFLOW/KEY`. Throws Error: InvalidArgument when it can be neither or when
/// several ids begin so (the message lists them), InstanceNotFound when there is none.
InstanceId resolve_instance(Engine& engine, std::string_view text);

}  // namespace ebb::cli
