#pragma once

#include <string_view>
#include <vector>

#include "source/cpp_code.h"
#include "source/cpp_workflow.h"

// What the parts of the scan find in the tokens of one file.

namespace ebb::source {

std::vector<CppWorkflow> workflows_in(const CppCode& code);

bool may_have_handlers(std::string_view text);

std::vector<CppHandler> handlers_in(const CppCode& code);

}  // namespace ebb::source
