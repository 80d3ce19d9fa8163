#pragma once

#include <span>
#include <string>
#include <vector>

namespace ebb::cli {

/// One file that `ebb init` writes.
struct ProjectFile {
    std::string path{};  ///< in the project's folder
    std::string text{};
};

/// A CMake project with a workflow, its handlers, a program that runs it, and a test.
std::vector<ProjectFile> cpp_project(const std::string& workflow);

/// A workflow in YAML whose handlers are programs.
std::vector<ProjectFile> yaml_project(const std::string& workflow);

}  // namespace ebb::cli
