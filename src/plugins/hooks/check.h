#pragma once

#include <string>
#include <vector>

#include "plugins/hooks/hook.h"

namespace ebb::hooks {

/// Throws InvalidArgument, with what is wrong, where, and what is allowed.
void check_hook(const Hook& hook);

/// The secrets in a text: one on each line, of which any may have signed. Throws InvalidArgument if
/// one of them does not fit the scheme; the message never contains it.
std::vector<std::string> split_secrets(const Hook& hook, const std::string& text);

}  // namespace ebb::hooks
