#pragma once

#include <string>

#include <ebb/handler.h>

#include "handlers/spec.h"

namespace ebb {

/// Runs the program or script of `spec` for each call.
Handler make_exec_handler(const std::string& name, ExecSpec spec);

}  // namespace ebb
