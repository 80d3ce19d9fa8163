#include "cli/editor/workspace_files.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "cli/definition_file.h"
#include "cli/regular_file.h"
#include "cli/text.h"
#include "core/model/words.h"
#include "source/cpp_workflow.h"
#include "source/workspace_config.h"

namespace ebb::cli {

namespace {

namespace fs = std::filesystem;
using lsp::WorkspaceLimits;

bool is_definition_name(std::string_view name) {
    return name.ends_with(".yaml") || name.ends_with(".yml") || name.ends_with(".ebb.json");
}

bool is_hidden(std::string_view name) {
    return name.starts_with('.');
}

/// Whatever links its folders are.
bool is_below(const fs::path& root, const fs::path& path) {
    std::error_code error;
    const fs::path folder = fs::canonical(path.parent_path(), error);
    if (error) return false;
    const fs::path relative = folder.lexically_relative(fs::canonical(root, error));
    return !error && !relative.empty() && *relative.begin() != "..";
}

/// Code that could register handlers, and that no one reads.
bool is_large_code(const fs::path& path) {
    std::error_code error;
    return source::is_cpp_name(path.string()) &&
           fs::is_regular_file(fs::symlink_status(path, error)) &&
           fs::file_size(path, error) > WorkspaceLimits::kFileBytesMax && !error;
}

}  // namespace

WorkspaceFiles::WorkspaceFiles(lsp::Server& server, std::vector<std::string> types)
    : server_(server), types_(std::move(types)) {}

bool WorkspaceFiles::has_work() {
    for (std::string& path : server_.take_changed_files()) changed_.emplace_back(std::move(path));
    return server_.workspace().revision != revision_ || folder_ || !folders_.empty() ||
           !changed_.empty();
}

std::vector<std::string> WorkspaceFiles::step() {
    told_.clear();
    slice_bytes_ = 0;
    if (server_.workspace().revision != revision_) begin();
    for (std::size_t i = 0; i < kSliceEntriesMax && slice_bytes_ < kSliceBytesMax; ++i) {
        if (!changed_.empty()) {
            const fs::path path = std::move(changed_.front());
            changed_.pop_front();
            read_changed(path);
        } else if (!folder_) {
            if (folders_.empty()) break;
            open_folder();
        } else if (entry_ == fs::directory_iterator()) {
            folder_.reset();
        } else {
            visit(*entry_);
            std::error_code error;
            entry_.increment(error);
            if (error) entry_ = {};
        }
    }
    return std::move(told_);
}

void WorkspaceFiles::begin() {
    const lsp::WorkspaceSettings& settings = server_.workspace();
    revision_ = settings.revision;
    folders_.clear();
    folder_.reset();
    roots_.clear();
    entries_ = files_ = bytes_ = 0;
    is_cut_ = false;
    server_.drop_files();
    std::vector<std::string> types = types_;
    for (const std::string& folder : settings.folders) {
        Root root{.path = folder, .exclude = {}, .handlers = {}};
        read_config(root, types);
        roots_.push_back(std::make_shared<const Root>(std::move(root)));
        folders_.push_back({.root = roots_.back()});
    }
    // What --types names was read before the first message.
    if (is_begun_ || types.size() > types_.size()) set_types(types);
    is_begun_ = true;
}

void WorkspaceFiles::read_config(Root& root, std::vector<std::string>& types) {
    const lsp::WorkspaceSettings& settings = server_.workspace();
    const fs::path path = root.path / source::kWorkspaceConfigName;
    source::WorkspaceConfig config;
    if (const auto text = read_regular_file(path, source::WorkspaceConfigLimits::kBytesMax)) {
        config = source::read_workspace_config(*text, path.string());
    }
    for (const Diagnostic& problem : config.problems) {
        told_.push_back(
            fmt::format("{}:{}: {}", one_line(path.string()), problem.line, problem.message)
        );
    }
    for (const std::string& file : config.types) {
        const fs::path types_path = root.path / file;
        // Nothing that a link or a pipe could lead to.
        const bool is_file = is_below(root.path, types_path) &&
                             read_regular_file(types_path, WorkspaceLimits::kFileBytesMax);
        if (is_file) {
            types.push_back(types_path.string());
        } else {
            told_.push_back(fmt::format(
                "{}: the file of types {} cannot be read: it must be a file in the folder of {}, "
                "of at most {} bytes.",
                one_line(path.string()),
                model::in_quotes(file),
                source::kWorkspaceConfigName,
                WorkspaceLimits::kFileBytesMax
            ));
        }
    }
    for (const std::string& pattern : settings.exclude) config.exclude.push_back(pattern);
    for (const std::string& pattern : settings.handlers) config.handlers.push_back(pattern);
    root.exclude = IgnoreRules(config.exclude);
    root.handlers = IgnoreRules(config.handlers);
}

void WorkspaceFiles::set_types(const std::vector<std::string>& paths) {
    try {
        server_.set_types(read_types(paths));
    } catch (const InvalidDefinitionFile& invalid) {
        const Diagnostic& problem = invalid.file.problems.front();
        told_.push_back(
            fmt::format("{}:{}: {}", one_line(invalid.file.path), problem.line, problem.message)
        );
    } catch (const Error& error) {
        told_.emplace_back(error.what());
    }
}

/// Those of the folder's own .gitignore.
void WorkspaceFiles::add_rules(Folder& folder) {
    const fs::path path = folder.root->path / folder.relative / ".gitignore";
    const auto text = read_regular_file(path, kIgnoreBytesMax);
    if (!text) return;
    folder.rules = std::make_shared<const Rules>(
        Rules{.rules = IgnoreRules(*text), .folder = folder.relative, .outer = folder.rules}
    );
}

void WorkspaceFiles::open_folder() {
    Folder folder = std::move(folders_.back());
    folders_.pop_back();
    const fs::path path = folder.root->path / folder.relative;
    add_rules(folder);
    std::error_code error;
    entry_ = fs::directory_iterator(path, fs::directory_options::skip_permission_denied, error);
    if (!error) folder_ = std::move(folder);
}

bool WorkspaceFiles::is_ignored(const Folder& folder, const std::string& name, bool is_folder)
    const {
    using Verdict = IgnoreRules::Verdict;
    const std::string path = folder.relative + name;
    if (folder.root->exclude.judge(path, is_folder) == Verdict::Ignored) return true;
    for (const Rules* rules = folder.rules.get(); rules != nullptr; rules = rules->outer.get()) {
        const Verdict verdict = rules->rules.judge(path.substr(rules->folder.size()), is_folder);
        if (verdict != Verdict::Silent) return verdict == Verdict::Ignored;
    }
    return false;
}

bool WorkspaceFiles::is_wanted(const Folder& folder, const std::string& name) const {
    if (is_definition_name(name)) return true;
    if (!source::is_cpp_name(name) || !server_.workspace().with_cpp) return false;
    const IgnoreRules& handlers = folder.root->handlers;
    return handlers.is_empty() ||
           handlers.judge(folder.relative + name, false) == IgnoreRules::Verdict::Ignored;
}

void WorkspaceFiles::visit(const fs::directory_entry& entry) {
    if (++entries_ > WorkspaceLimits::kEntriesMax || files_ >= WorkspaceLimits::kFilesMax ||
        bytes_ >= WorkspaceLimits::kBytesMax) {
        folders_.clear();
        folder_.reset();
        is_cut_ = true;
        return;
    }
    const std::string name = entry.path().filename().string();
    std::error_code error;
    const fs::file_status status = entry.symlink_status(error);
    if (error || is_hidden(name)) return;
    if (fs::is_directory(status)) {
        if (is_ignored(*folder_, name, true)) return;
        folders_.push_back(
            {.root = folder_->root,
             .relative = folder_->relative + name + "/",
             .rules = folder_->rules}
        );
    } else if (fs::is_regular_file(status) && is_wanted(*folder_, name) &&
               !is_ignored(*folder_, name, false)) {
        read(entry.path());
    }
}

void WorkspaceFiles::read(const fs::path& path) {
    auto text = read_regular_file(path, WorkspaceLimits::kFileBytesMax);
    if (!text) {
        is_cut_ = is_cut_ || is_large_code(path);
        return;
    }
    ++files_;
    bytes_ += text->size();
    slice_bytes_ += text->size();
    server_.take_file(path.string(), std::move(*text));
}

void WorkspaceFiles::read_changed(const fs::path& path) {
    const std::string name = path.filename().string();
    for (const std::shared_ptr<const Root>& root : roots_) {
        if (path.parent_path() == root->path && name == source::kWorkspaceConfigName) {
            revision_ = 0;  // begin again
            return;
        }
    }
    server_.drop_file(path.string());
    for (const std::shared_ptr<const Root>& root : roots_) {
        const fs::path relative = path.lexically_relative(root->path);
        if (relative.empty() || *relative.begin() == "..") continue;
        Folder folder{.root = root};
        add_rules(folder);
        bool is_left_out = !is_below(root->path, path);
        for (const fs::path& part : relative.parent_path()) {
            is_left_out =
                is_left_out || is_hidden(part.string()) || is_ignored(folder, part.string(), true);
            if (is_left_out) return;
            folder.relative += part.string() + "/";
            add_rules(folder);
        }
        if (is_left_out || !is_wanted(folder, name) || is_ignored(folder, name, false)) return;
        return read(path);
    }
}

}  // namespace ebb::cli
