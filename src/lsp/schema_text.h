#pragma once

#include <string_view>

namespace ebb::lsp {

/// `schema/workflow.schema.json`, as the build has put it into the program.
extern const std::string_view kWorkflowSchema;

}  // namespace ebb::lsp
