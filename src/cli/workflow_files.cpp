#include "cli/workflow_files.h"

#include <algorithm>
#include <filesystem>
#include <set>

#include <fmt/format.h>

#include <ebb/error.h>

#include "cli/text.h"

namespace ebb::cli {

namespace {

namespace fs = std::filesystem;

bool is_definition(const fs::path& path) {
    const std::string extension = path.extension().string();
    return extension == ".yaml" || extension == ".yml" || extension == ".json";
}

bool is_hidden(const fs::path& path) {
    const std::string name = path.filename().string();
    return name.size() > 1 && name.front() == '.' && name != "..";
}

[[noreturn]] void fail_too_many(std::string_view argument) {
    throw Error(
        ErrorCode::LimitExceeded,
        fmt::format(
            "{} has more than {} YAML and JSON files: name a folder with fewer.",
            one_line(argument),
            kWorkflowFilesMax
        )
    );
}

/// All definitions below `folder` that `is_wanted`, sorted.
template <typename Wanted>
std::vector<std::string> files_below(
    const fs::path& folder, std::string_view argument, const Wanted& is_wanted
) {
    std::vector<std::string> found;
    std::error_code error;
    constexpr auto kOptions = fs::directory_options::skip_permission_denied;
    fs::recursive_directory_iterator entry(folder, kOptions, error);
    for (; !error && entry != fs::recursive_directory_iterator(); entry.increment(error)) {
        if (entry->is_directory(error) && is_hidden(entry->path())) {
            entry.disable_recursion_pending();
        }
        const bool is_file = fs::is_regular_file(entry->symlink_status(error));
        if (!is_file || !is_definition(entry->path())) continue;
        std::string path = entry->path().string();
        if (folder == "." && !argument.starts_with('.')) path.erase(0, 2);
        if (!is_wanted(path)) continue;
        if (found.size() >= kWorkflowFilesMax) fail_too_many(argument);
        found.push_back(std::move(path));
    }
    std::sort(found.begin(), found.end());
    return found;
}

bool has_wildcards(std::string_view argument) {
    return argument.find_first_of("*?") != std::string_view::npos;
}

std::vector<std::string> files_of(const std::string& argument) {
    std::error_code error;
    if (fs::is_directory(argument, error)) {
        return files_below(argument, argument, [](const std::string&) { return true; });
    }
    // The folder in front of the first wildcard.
    const std::size_t wildcard = argument.find_first_of("*?");
    const std::size_t slash = argument.rfind('/', wildcard);
    const std::string folder = slash == std::string::npos ? "." : argument.substr(0, slash + 1);
    return files_below(folder, argument, [&](const std::string& path) {
        return matches_glob(argument, path);
    });
}

}  // namespace

bool matches_glob(std::string_view pattern, std::string_view path) {
    // Back to the last `**/` and the last `*` on a mismatch, so the time is bounded by the product.
    std::size_t p = 0;
    std::size_t t = 0;
    constexpr std::size_t kNone = std::string_view::npos;
    std::size_t star = kNone;
    std::size_t star_text = 0;
    std::size_t folders = kNone;
    std::size_t folders_text = 0;
    while (t < path.size()) {
        if (pattern.substr(p).starts_with("**/")) {
            p += 3;
            folders = p;
            folders_text = t;
            star = kNone;
        } else if (p < pattern.size() && pattern[p] == '*') {
            star = ++p;
            star_text = t;
        } else if (p < pattern.size() &&
                   (pattern[p] == path[t] || (pattern[p] == '?' && path[t] != '/'))) {
            ++p;
            ++t;
        } else if (star != kNone && path[star_text] != '/') {
            p = star;
            t = ++star_text;
        } else if (folders != kNone && path.find('/', folders_text) != kNone) {
            folders_text = path.find('/', folders_text) + 1;
            p = folders;
            t = folders_text;
            star = kNone;
        } else {
            return false;
        }
    }
    while (p < pattern.size() && pattern[p] == '*') ++p;
    return p == pattern.size();
}

std::vector<WorkflowFile> find_workflow_files(const std::vector<std::string>& arguments) {
    std::vector<WorkflowFile> files;
    std::set<std::string> seen;
    for (const std::string& argument : arguments) {
        std::error_code error;
        const bool is_folder = argument != "-" && fs::is_directory(argument, error);
        const bool is_pattern = has_wildcards(argument) && !fs::exists(argument, error);
        if (!is_folder && !is_pattern) {
            if (seen.insert(argument).second) files.push_back({.path = argument});
            continue;
        }
        const std::vector<std::string> found = files_of(argument);
        if (found.empty()) {
            files.push_back(
                {.path = argument,
                 .problem = fmt::format(
                     "There is no YAML or JSON file {} {}.",
                     is_folder ? "in" : "that matches",
                     one_line(argument)
                 )}
            );
        }
        for (const std::string& path : found) {
            if (seen.insert(path).second) files.push_back({.path = path, .is_found = true});
        }
    }
    return files;
}

std::vector<std::string> split_file_list(std::string_view text) {
    const char separator = text.find('\0') == std::string_view::npos ? '\n' : '\0';
    std::vector<std::string> names;
    while (!text.empty()) {
        std::string_view name = text.substr(0, text.find(separator));
        text.remove_prefix(std::min(name.size() + 1, text.size()));
        if (separator == '\n' && name.ends_with('\r')) name.remove_suffix(1);
        if (!name.empty()) names.emplace_back(name);
    }
    return names;
}

}  // namespace ebb::cli
