#pragma once

#include <string_view>

namespace ebb::server {

/// The API's document as JSON: schema/openapi, merged.
std::string_view openapi_document();

}  // namespace ebb::server
