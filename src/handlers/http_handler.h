#pragma once

#include <string>

#include <ebb/handler.h>

#include "handlers/spec.h"

namespace ebb {

/// Makes the HTTP call of `spec` for each call.
Handler make_http_handler(const std::string& name, HttpSpec spec);

}  // namespace ebb
