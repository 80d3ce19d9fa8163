#pragma once

#include <nlohmann/json.hpp>

#include <ebb/definition.h>

namespace ebb::model {

/// The JSON form with its keys in the order in which people write them. Payloads keep sorted keys.
/// Throws Error with InvalidPayload if the definition holds a payload that is not JSON.
nlohmann::ordered_json write_definition(const Definition& definition);

}  // namespace ebb::model
