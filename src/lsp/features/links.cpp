// Document links: the files that a text names. The server does not look whether they are there.

#include <filesystem>
#include <string_view>

#include <nlohmann/json.hpp>

#include "lsp/lsp.h"
#include "lsp/uri.h"
#include "source/workspace_config.h"

namespace ebb::lsp {

namespace {

using yaml::LineTree;
using yaml::TreeNode;

constexpr std::size_t kLinksMax = 1'000;
constexpr std::string_view kSchemaMark = "# yaml-language-server: $schema=";

class Links {
 public:
    explicit Links(const Document& document)
        : document_(document),
          tree_(document.tree()),
          folder_(std::filesystem::path(path_of_uri(document.uri())).parent_path()) {}

    Json run() {
        if (folder_.empty()) return std::move(links_);
        if (document_.uri().ends_with(source::kWorkspaceConfigName)) {
            add_list(tree_.find(0, "types"));
        } else {
            add_schema();
            add_programs(tree_.find(0, "handlers"));
            add_programs(tree_.find(0, "types"));
        }
        return std::move(links_);
    }

 private:
    const Document& document_;
    const LineTree& tree_;
    std::filesystem::path folder_;
    Json links_ = Json::array();

    void add(std::size_t begin, std::size_t end, std::string_view name, const char* tooltip) {
        const bool is_file = !name.empty() && name.find("://") == std::string_view::npos &&
                             name.find("${") == std::string_view::npos;
        if (!is_file || links_.size() >= kLinksMax) return;
        const std::filesystem::path path = (folder_ / name).lexically_normal();
        links_.push_back(
            {{"range", range_json(document_.lines(), begin, end)},
             {"target", uri_of_path(path.string())},
             {"tooltip", tooltip}}
        );
    }

    void add_value(int node, const char* tooltip) {
        const TreeNode& here = tree_.at(node);
        if (here.kind != TreeNode::Kind::Scalar) return;
        add(here.value.begin, here.value.end, tree_.scalar(node), tooltip);
    }

    void add_list(int list) {
        if (list < 0) return;
        for (const int item : tree_.at(list).children) add_value(item, "Open the types");
    }

    /// `# yaml-language-server: $schema=...` of the first lines.
    void add_schema() {
        const std::string_view text = document_.text();
        for (std::size_t line = 0; line < 10 && line < document_.lines().line_count(); ++line) {
            const std::string_view here = document_.lines().line(line);
            if (!here.starts_with(kSchemaMark)) continue;
            const std::size_t begin = document_.lines().start_of_line(line) + kSchemaMark.size();
            const std::size_t length = here.size() - kSchemaMark.size();
            add(begin, begin + length, text.substr(begin, length), "Open the schema");
        }
    }

    /// The programs of `exec: [./charge, ...]` that are files: one without a slash is of PATH.
    void add_programs(int handlers) {
        if (handlers < 0 || tree_.at(handlers).kind != TreeNode::Kind::Map) return;
        for (const int handler : tree_.at(handlers).children) {
            const int exec = tree_.find(handler, "exec");
            const bool has_list = exec >= 0 && tree_.at(exec).kind == TreeNode::Kind::List &&
                                  !tree_.at(exec).children.empty();
            // It may be run in another folder.
            if (!has_list || tree_.find(handler, "cwd") >= 0) continue;
            const int program = tree_.at(exec).children.front();
            const bool is_path = tree_.scalar(program).find('/') != std::string::npos;
            if (is_path) add_value(program, "Open the program");
        }
    }
};

}  // namespace

Json Server::list_links(const Json& params) {
    const Document* document = open_document_of(params);
    if (document == nullptr || document->is_cpp()) return Json::array();
    const bool is_config = document->uri().ends_with(source::kWorkspaceConfigName);
    if (document->kind() == source::TextKind::Other && !is_config) return Json::array();
    return Links(*document).run();
}

}  // namespace ebb::lsp
