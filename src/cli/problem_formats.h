#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include <ebb/error.h>

// What other programs read about the problems of files: CI services and code reviews.

namespace ebb::cli {

/// A file that was checked, as a report shows it.
struct CheckedFile {
    std::string path{};      ///< as the user named it
    std::string workflow{};  ///< empty if the file is not valid or holds types
    int version = 0;
    std::vector<Diagnostic> problems{};
};

/// How many annotations of one severity GitHub shows for one step.
inline constexpr std::size_t kGithubAnnotationsMax = 10;

/// One JSON object for `ebb validate --json`.
nlohmann::ordered_json file_json(const CheckedFile& file);

/// Workflow commands of GitHub Actions, one in each line. What is more than GitHub shows follows as
/// plain lines.
std::string to_github(std::span<const CheckedFile> files);

/// SARIF 2.1.0.
nlohmann::ordered_json to_sarif(std::span<const CheckedFile> files);

/// A code quality report of GitLab.
nlohmann::ordered_json to_gitlab(std::span<const CheckedFile> files);

}  // namespace ebb::cli
