#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <ebb/json.h>
#include <ebb/type_library.h>

#include "lsp/document.h"
#include "lsp/positions.h"
#include "lsp/workspace_index.h"

namespace ebb::lsp {

/// Which values that are not written at a step are shown there.
enum class InlayMode {
    Off,
    Defaults,  ///< those of `defaults:`
    All,
};

/// `inlayHints` of the client's settings: `off`, `defaults` or `all`.
InlayMode read_inlay_mode(const Json& settings, InlayMode otherwise);

struct ServerOptions {
    std::string version{};  ///< of Ebb, for `initialize`
    /// The types that steps may call.
    TypeLibrary types{};
    /// Where the pages of the documentation are, as a URL; empty = the client may say it.
    std::string docs{};
};

/// Which files of a workspace have to do with handlers.
struct WorkspaceSettings {
    std::vector<std::string> folders{};   ///< absolute paths
    std::vector<std::string> handlers{};  ///< patterns of files in C++; empty = all of them
    std::vector<std::string> exclude{};   ///< patterns of .gitignore
    bool with_cpp = true;                 ///< look at code in C++
    int revision = 0;                     ///< grows with every change
};

/// The language server: messages in, messages out. It opens no file, starts no thread and no
/// program and asks for no time, so a transcript says all about it.
class Server {
 public:
    explicit Server(ServerOptions options = {});
    ~Server();

    /// Answers messages that arrived together, so that a request that a later one cancels, or that
    /// is about a text that a later one changes, is not worked on.
    std::vector<Json> handle_all(std::span<const Json> messages);

    std::vector<Json> handle(const Json& message) { return handle_all({&message, 1}); }

    /// The diagnostics of the documents that have changed, and nothing else. The caller asks when
    /// no message is waiting.
    std::vector<Json> idle();

    /// What the files that were read name.
    const WorkspaceIndex& index() const { return index_; }

    /// What the caller reads for it. It begins again if the revision has grown.
    const WorkspaceSettings& workspace() const { return workspace_; }

    /// Files and folders of the workspace that may have changed since the last call, as paths.
    std::vector<std::string> take_changed_files();

    /// A file of the workspace as it is now. One that is open counts as the editor has it.
    void take_file(const std::string& path, std::string text);
    void drop_file(const std::string& path);

    void drop_files();

    /// Whether all files of the workspace were read. Only then is a handler that no file registers
    /// reported.
    void set_files_read(bool are_read) { are_files_read_ = are_read; }

    /// The types that steps may call from now on.
    void set_types(TypeLibrary types);

    /// The process of the client, as `initialize` has named it; 0 = unknown. Without it, nothing
    /// uses the server any more.
    std::int64_t client_process() const { return client_process_; }

    /// Has `exit` come?
    bool is_over() const { return is_over_; }

    /// 0 after an orderly `shutdown`.
    int exit_code() const { return is_shut_down_ ? 0 : 1; }

 private:
    using Request = Json (Server::*)(const Json& params);

    ServerOptions options_;
    std::map<std::string, std::unique_ptr<Document>, std::less<>> documents_;
    Encoding encoding_ = Encoding::Utf16;
    bool is_initialized_ = false;
    bool is_shut_down_ = false;
    bool is_over_ = false;
    std::int64_t client_process_ = 0;
    InlayMode inlay_ = InlayMode::Off;
    std::string docs_;  ///< as the client says
    bool takes_snippets_ = false;
    WorkspaceSettings workspace_;
    WorkspaceIndex index_;
    std::vector<std::string> changed_files_;
    bool can_register_ = false;  ///< the client lets the server ask for changes of files
    bool can_refresh_lenses_ = false;
    bool can_create_files_ = false;
    bool can_annotate_ = false;  ///< the client shows what edits are about
    bool are_files_read_ = false;
    std::set<std::string, std::less<>> commands_;  ///< that the client has for lenses
    int judged_revision_ = -1;                     ///< of the index, by the last diagnostics
    bool was_judged_whole_ = false;
    std::vector<std::string> judged_names_;
    std::vector<Json> out_;

    static const std::map<std::string_view, Request>& requests();
    void handle_one(const Json& message);
    void answer(const Json& id, std::string_view method, const Json& params);
    void note(std::string_view method, const Json& params);

    Json initialize(const Json& params);
    Json shut_down(const Json& params);
    void open(const Json& params);
    void change(const Json& params);
    void close(const Json& params);
    void configure(const Json& params);
    void publish(Document& document);

    void read_folders(const Json& params);
    void read_settings(const Json& settings);
    void read_docs(const Json& settings);
    void change_folders(const Json& params);
    void note_changed_files(const Json& params);
    void watch_files();
    void index_open_documents();
    void index_open_code();
    void index(Document& document);

    /// Null if it is not open or has nothing to do with workflows.
    Document* document_of(const Json& params);
    /// Null if it is not open.
    Document* open_document_of(const Json& params);
    /// Null if it is not open or no code in C++.
    Document* cpp_document_of(const Json& params);
    Document* either_document_of(const Json& params);

    CheckSettings settings() const {
        return {
            .types = &options_.types,
            .index = &index_,
            .is_index_whole = are_files_read_,
            .docs = docs_.empty() ? options_.docs : docs_
        };
    }

    void read_commands(const Json& params);
    void judge_handlers_again();

    Json complete(const Json& params);
    Json hover(const Json& params);
    Json find_definition(const Json& params);
    Json find_references(const Json& params);
    Json highlight(const Json& params);
    Json prepare_rename(const Json& params);
    Json rename(const Json& params);
    Json rename_handler(
        const Document& document, const std::string& old_name, const std::string& name
    );
    Json list_lenses(const Json& params);
    Json list_samples(const Json& params);
    Json list_symbols(const Json& params);
    Json list_folds(const Json& params);
    Json list_actions(const Json& params);
    Json list_tokens(const Json& params);
    Json list_tokens_in_range(const Json& params);
    Json list_selections(const Json& params);
    Json list_links(const Json& params);
    Json find_symbols(const Json& params);
    Json evaluate(const Json& params);
    Json list_hints(const Json& params);
    Json help_signature(const Json& params);
    Json format(const Json& params);
    Json format_line(const Json& params);
    Json draw(const Json& params);
    Json expand(const Json& params);
    Json tell_definition(const Json& params);
    Json tell_kind(const Json& params);
};

}  // namespace ebb::lsp
