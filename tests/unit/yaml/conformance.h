#pragma once

#include <string>

#include <ebb/json.h>

namespace ebb::test {

/// What the published JSON Schema says against `document`; empty when it conforms.
std::string violations_of_schema(
    const Json& document, const std::string& name = "workflow.schema.json"
);

}  // namespace ebb::test
