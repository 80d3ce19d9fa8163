#pragma once

#include <cstddef>
#include <deque>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/ignore_rules.h"
#include "lsp/lsp.h"

namespace ebb::cli {

/// Reads for the language server what of a workspace can name handlers: code in C++, and workflows.
/// It leaves out hidden folders, what .gitignore and `exclude` name, links, and what is too large.
class WorkspaceFiles {
 public:
    /// Between two messages.
    static constexpr std::size_t kSliceEntriesMax = 200;
    static constexpr std::size_t kSliceBytesMax = 256 * 1024;
    static constexpr std::size_t kIgnoreBytesMax = 64 * 1024;

    /// `types` are those of --types, which `.ebbrc.yaml` adds to.
    WorkspaceFiles(lsp::Server& server, std::vector<std::string> types);

    /// Is there something to read? Asks the server what has changed.
    bool has_work();

    /// There are folders, and all of them were read. Never if a limit left something out.
    bool has_read() { return is_begun_ && !is_cut_ && !roots_.empty() && !has_work(); }

    /// Reads a slice. Returns what to tell the person, if anything.
    std::vector<std::string> step();

 private:
    /// The rules of a folder and of those around it.
    struct Rules {
        IgnoreRules rules;
        std::string folder{};  ///< relative to the root, with a slash at its end; empty = the root
        std::shared_ptr<const Rules> outer{};
    };

    struct Root {
        std::filesystem::path path;
        IgnoreRules exclude;
        IgnoreRules handlers;  ///< the files in C++; none = all
    };

    struct Folder {
        std::shared_ptr<const Root> root;
        std::string relative{};  ///< as in Rules
        std::shared_ptr<const Rules> rules{};
    };

    lsp::Server& server_;
    std::vector<std::string> types_;
    int revision_ = 0;
    bool is_begun_ = false;
    bool is_cut_ = false;
    std::vector<std::shared_ptr<const Root>> roots_;
    std::vector<Folder> folders_;  ///< still to be listed
    std::optional<Folder> folder_;
    std::filesystem::directory_iterator entry_;
    std::deque<std::filesystem::path> changed_;
    std::size_t entries_ = 0;
    std::size_t files_ = 0;
    std::size_t bytes_ = 0;
    std::size_t slice_bytes_ = 0;
    std::vector<std::string> told_;

    void begin();
    void read_config(Root& root, std::vector<std::string>& types);
    void set_types(const std::vector<std::string>& paths);
    void open_folder();
    static void add_rules(Folder& folder);
    void visit(const std::filesystem::directory_entry& entry);
    void read(const std::filesystem::path& path);
    void read_changed(const std::filesystem::path& path);
    bool is_ignored(const Folder& folder, const std::string& name, bool is_folder) const;
    bool is_wanted(const Folder& folder, const std::string& name) const;
};

}  // namespace ebb::cli
