#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/definition_file.h"
#include "source/cpp_workflow.h"

namespace ebb::cli {

/// A workflow that a file of C++ builds, with the problems of it.
struct CppDefinition {
    DefinitionFile file{};
    source::CppWorkflow workflow{};
};

/// `order.cpp`, or `order.cpp#NAME` for the workflow of this name.
bool names_cpp_file(std::string_view word);

/// All workflows of a file, or the one that the word names. Throws Error if it cannot be read.
std::vector<CppDefinition> read_cpp_file(const std::string& word);

/// Does the file build rules, which are not read? Throws Error if it cannot be read.
bool builds_rules(const std::string& word);

/// The only one. Throws Error with the names if the file has none or several of them.
CppDefinition read_cpp_workflow(const std::string& word);

/// `exact`, or how many parts are decided when the program runs.
std::string exactness(const source::CppWorkflow& workflow);

}  // namespace ebb::cli
