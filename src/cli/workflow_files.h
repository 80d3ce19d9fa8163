#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace ebb::cli {

/// More files are refused: a folder was probably not the one that was meant.
inline constexpr std::size_t kWorkflowFilesMax = 20'000;

struct WorkflowFile {
    std::string path{};
    /// It was found in a folder or by a pattern, and counts only if it holds a workflow.
    bool is_found = false;
    std::string problem{};  ///< the argument means no file: why; empty = it is a file

    bool operator==(const WorkflowFile&) const = default;
};

/// The files that arguments mean: a file, `-`, a folder (all YAML and JSON files below it, but
/// those in hidden folders), or a pattern with `*`, `?` and `**`. In the order of the arguments,
/// those of one argument sorted, each once. Links to folders are not followed. Throws Error if a
/// pattern or a folder finds too much.
std::vector<WorkflowFile> find_workflow_files(const std::vector<std::string>& arguments);

/// Does `pattern` match the whole path? `*` and `?` do not match a slash, `**/` matches any number
/// of folders.
bool matches_glob(std::string_view pattern, std::string_view path);

/// The names in a list: one in each line, or separated by U+0000.
std::vector<std::string> split_file_list(std::string_view text);

}  // namespace ebb::cli
