// `ebb init`: the first files of a project.

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <system_error>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/output_file.h"
#include "cli/project_commands.h"
#include "cli/project_files.h"
#include "cli/text.h"
#include "core/model/editor_graph.h"

namespace ebb::cli {

namespace {

std::string name_for(const std::filesystem::path& folder, const std::string& wanted) {
    if (wanted.empty()) {
        const auto whole = std::filesystem::absolute(folder / "").lexically_normal().parent_path();
        return model::name_of(whole.filename().string());
    }
    if (model::name_of(wanted) == wanted) return wanted;
    throw Error(
        ErrorCode::InvalidArgument,
        fmt::format(
            "\"{}\" is not a valid workflow name; write \"{}\".",
            one_line(wanted),
            model::name_of(wanted)
        )
    );
}

bool is_there(const std::filesystem::path& path) {
    return std::filesystem::exists(std::filesystem::symlink_status(path));
}

/// A new repository often already has this file: it is left as it is.
bool is_optional(const ProjectFile& file) {
    return file.path == ".gitignore";
}

/// Nothing is written if another file of that name exists.
void check_free(const std::filesystem::path& folder, const std::vector<ProjectFile>& files) {
    for (const ProjectFile& file : files) {
        const auto path = (folder / file.path).lexically_normal();
        if (is_optional(file) || !is_there(path)) continue;
        throw Error(
            ErrorCode::InvalidArgument,
            fmt::format(
                "\"{}\" exists, and `ebb init` overwrites nothing. Name another folder: `ebb init "
                "FOLDER`.",
                path.string()
            )
        );
    }
}

/// What git should ignore, as words in a sentence.
std::string list_of_lines(std::string_view text) {
    std::string list;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        if (end > 0) list += (list.empty() ? "" : " ") + std::string(text.substr(0, end));
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return list;
}

}  // namespace

int make_project(Session& session, const InitOptions& options) {
    const std::filesystem::path folder = options.folder.empty() ? "." : options.folder;
    const std::string name = name_for(folder, options.name);
    const auto files = options.is_yaml ? yaml_project(name) : cpp_project(name);
    check_free(folder, files);
    std::error_code error;
    std::filesystem::create_directories(folder, error);
    if (error) {
        throw std::system_error(
            error, fmt::format("The folder \"{}\" cannot be created", folder.string())
        );
    }
    nlohmann::ordered_json written = nlohmann::ordered_json::array();
    for (const ProjectFile& file : files) {
        const std::string path = (folder / file.path).lexically_normal().string();
        if (is_optional(file) && is_there(path)) {
            session.note(fmt::format(
                "Kept {}, which exists; git should ignore: {}\n", path, list_of_lines(file.text)
            ));
            continue;
        }
        write_file(path, file.text);
        written.push_back(path);
        session.note(fmt::format("Wrote {}\n", path));
    }
    if (session.options().is_json) session.print_json({{"name", name}, {"files", written}});
    const std::string there = options.folder.empty() || options.folder == "."
                                  ? ""
                                  : fmt::format("cd {} && ", shell_word(options.folder));
    const std::string next =
        options.is_yaml
            ? fmt::format("ebb dev {}.yaml -i '{{\"item\": \"lamp\", \"amount\": 120}}'", name)
            : "cmake -B build && cmake --build build && ctest --test-dir build";
    session.note(fmt::format("Next: {}{}\n", there, next));
    return kOk;
}

}  // namespace ebb::cli
