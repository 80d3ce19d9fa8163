// The files of the workspace, of which the server knows what its caller reads for it.

#include <algorithm>
#include <utility>

#include <nlohmann/json.hpp>

#include "lsp/lsp.h"
#include "lsp/uri.h"
#include "lsp/wire.h"

namespace ebb::lsp {

namespace {

/// The path of a member that is a URI; empty if it is none.
std::string path_at(const Json& json, const char* key) {
    const auto found = json.is_object() ? json.find(key) : json.end();
    if (!json.is_object() || found == json.end() || !found->is_string()) return {};
    return path_of_uri(found->get_ref<const std::string&>());
}

const Json& list_at(const Json& json, const char* key) {
    static const Json kNone = Json::array();
    const auto found = json.is_object() ? json.find(key) : json.end();
    const bool is_list = json.is_object() && found != json.end() && found->is_array();
    return is_list ? *found : kNone;
}

std::vector<std::string> texts_at(const Json& json, const char* key) {
    std::vector<std::string> texts;
    for (const Json& text : list_at(json, key)) {
        if (!text.is_string() || texts.size() >= WorkspaceLimits::kPatternsMax) continue;
        texts.push_back(text.get<std::string>());
    }
    return texts;
}

void add_folder(std::vector<std::string>& folders, std::string path) {
    while (path.size() > 1 && path.ends_with('/')) path.pop_back();
    const bool is_new = std::find(folders.begin(), folders.end(), path) == folders.end();
    if (path.empty() || !is_new || folders.size() >= WorkspaceLimits::kFoldersMax) return;
    folders.push_back(std::move(path));
}

}  // namespace

void Server::read_folders(const Json& params) {
    for (const Json& folder : list_at(params, "workspaceFolders")) {
        add_folder(workspace_.folders, path_at(folder, "uri"));
    }
    // What came before workspace folders.
    if (workspace_.folders.empty()) add_folder(workspace_.folders, path_at(params, "rootUri"));
    const Json::json_pointer kDynamic(
        "/capabilities/workspace/didChangeWatchedFiles/dynamicRegistration"
    );
    can_register_ = params.is_object() && params.contains(kDynamic) && params[kDynamic] == true;
    ++workspace_.revision;
}

void Server::read_settings(const Json& settings) {
    if (!settings.is_object()) return;
    inlay_ = read_inlay_mode(settings, inlay_);
    read_docs(settings);
    WorkspaceSettings changed = workspace_;
    if (settings.contains("handlers")) changed.handlers = texts_at(settings, "handlers");
    if (settings.contains("exclude")) changed.exclude = texts_at(settings, "exclude");
    const auto cpp = settings.find("cpp");
    if (cpp != settings.end() && cpp->is_boolean()) changed.with_cpp = cpp->get<bool>();
    const bool is_same = changed.handlers == workspace_.handlers &&
                         changed.exclude == workspace_.exclude &&
                         changed.with_cpp == workspace_.with_cpp;
    if (is_same) return;
    ++changed.revision;
    workspace_ = std::move(changed);
}

void Server::change_folders(const Json& params) {
    const auto event = params.find("event");
    if (event == params.end()) return;
    for (const Json& folder : list_at(*event, "removed")) {
        std::erase(workspace_.folders, path_at(folder, "uri"));
    }
    for (const Json& folder : list_at(*event, "added")) {
        add_folder(workspace_.folders, path_at(folder, "uri"));
    }
    ++workspace_.revision;
}

void Server::note_changed_files(const Json& params) {
    for (const Json& change : list_at(params, "changes")) {
        std::string path = path_at(change, "uri");
        if (path.empty()) continue;
        if (changed_files_.size() < WorkspaceLimits::kFilesMax) {
            changed_files_.push_back(std::move(path));
        } else {
            // So many that all of them are read again.
            changed_files_.clear();
            ++workspace_.revision;
            return;
        }
    }
}

void Server::watch_files() {
    const Json watcher = {{"globPattern", "**/*.{yaml,yml,json,cpp,cc,cxx,c++,hpp,hh,h,ipp}"}};
    Json request = make_notification(
        "client/registerCapability",
        {{"registrations",
          {{{"id", "ebb-files"},
            {"method", "workspace/didChangeWatchedFiles"},
            {"registerOptions", {{"watchers", Json::array({watcher})}}}}}}}
    );
    request["id"] = "ebb-watch-files";
    out_.push_back(std::move(request));
}

std::vector<std::string> Server::take_changed_files() {
    return std::exchange(changed_files_, {});
}

void Server::take_file(const std::string& path, std::string text) {
    const std::string uri = uri_of_path(path);
    const bool is_open = std::any_of(documents_.begin(), documents_.end(), [&](const auto& open) {
        return canonical_uri(open.first) == uri;
    });
    if (!is_open) index_.set(Document(uri, std::move(text), encoding_));
}

void Server::drop_file(const std::string& path) {
    index_.remove(uri_of_path(path));
}

void Server::drop_files() {
    index_.clear();
    // Open ones are not read again.
    for (auto& [uri, document] : documents_) document->is_index_old = true;
}

void Server::set_types(TypeLibrary types) {
    options_.types = std::move(types);
    for (auto& [uri, document] : documents_) document->forget();
}

void Server::index(Document& document) {
    if (!document.is_index_old) return;
    document.is_index_old = false;
    index_.set(document);
}

void Server::index_open_documents() {
    for (auto& [uri, document] : documents_) {
        if (workspace_.with_cpp || !document->is_cpp()) index(*document);
    }
}

/// Registrations are in code alone, and the names of a large workflow take longer.
void Server::index_open_code() {
    if (!workspace_.with_cpp) return;
    for (auto& [uri, document] : documents_) {
        if (document->is_cpp()) index(*document);
    }
}

/// When other names are registered than the last diagnostics knew of, those of the workflows are
/// made again.
void Server::judge_handlers_again() {
    if (!are_files_read_) return;
    index_open_code();
    if (was_judged_whole_ && judged_revision_ == index_.revision()) return;
    judged_revision_ = index_.revision();
    std::vector<std::string> names = index_.registered(WorkspaceLimits::kNamesMax);
    if (was_judged_whole_ && names == judged_names_) return;
    was_judged_whole_ = true;
    judged_names_ = std::move(names);
    for (auto& [uri, document] : documents_) {
        if (document->kind() == source::TextKind::Workflow) document->is_dirty = true;
    }
    if (!can_refresh_lenses_) return;
    Json request = make_notification("workspace/codeLens/refresh", nullptr);
    request["id"] = "ebb-refresh-lenses";
    out_.push_back(std::move(request));
}

}  // namespace ebb::lsp
