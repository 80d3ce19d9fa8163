#pragma once

#include "plugins/hooks/hook.h"
#include "plugins/hooks/mapping.h"

namespace ebb::server {

/// A genuine request to a hook.
struct HookCall {
    hooks::Hook hook;
    hooks::HookEvent event;
};

}  // namespace ebb::server
