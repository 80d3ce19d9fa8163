#pragma once

#include <string>
#include <vector>

#include <ebb/error.h>
#include <ebb/node_types.h>

#include "support/json.h"

namespace ebb {

/// What a handler entry promises, besides what it does.
struct HandlerContract {
    NodeType type{};
    Json defaults{};  ///< an object with what an input lacks; null = none

    bool is_empty() const {
        return type.input_schema.empty() && type.output_schema.empty() && defaults.is_null() &&
               type.result == NodeType::Result::Output;
    }
};

/// Reads `input_schema`, `output_schema`, `result` and `defaults` of an entry (an object), takes
/// them away from it, and notes what is wrong with them.
HandlerContract take_contract(
    Json& entry, const std::string& path, std::vector<Diagnostic>& problems
);

/// The handler, held to the contract: see NodeTypes.
Handler with_contract(const std::string& name, Handler handler, HandlerContract contract);

}  // namespace ebb
