#include "cli/handler_lint.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/editor/workspace_files.h"
#include "core/model/placing.h"
#include "lsp/features/missing.h"
#include "lsp/lsp.h"
#include "lsp/uri.h"

namespace ebb::cli {

namespace {

class WorkspaceLint : public HandlerLint {
 public:
    explicit WorkspaceLint(Session& session);

    void judge(DefinitionFile& file) const override;

 private:
    TypeLibrary types_;
    lsp::Server server_;
    bool is_whole_ = false;
};

WorkspaceLint::WorkspaceLint(Session& session)
    : types_(read_types(session)), server_({.version = EBB_VERSION, .types = types_}) {
    const std::string folder = lsp::uri_of_path(std::filesystem::current_path().string());
    server_.handle({{"id", 1}, {"method", "initialize"}, {"params", {{"rootUri", folder}}}});
    WorkspaceFiles files(server_, session.options().types);
    while (files.has_work()) files.step();
    is_whole_ = files.has_read();
}

void WorkspaceLint::judge(DefinitionFile& file) const {
    if (file.holds_types) return;
    const std::filesystem::path path = std::filesystem::absolute(file.path).lexically_normal();
    const lsp::Document document(lsp::uri_of_path(path.string()), file.text, lsp::Encoding::Utf8);
    const lsp::CheckSettings settings{
        .types = &types_, .index = &server_.index(), .is_index_whole = is_whole_
    };
    for (lsp::MissingHandler& missing : lsp::missing_handlers(document, settings)) {
        const lsp::HandlerPlace& place = missing.place;
        const SourceRange range = document.lines().source_range(place.begin, place.end);
        Diagnostic problem{
            .code = "missing_handler",
            .path = document.tree().path(document.tree().innermost(place.begin)),
            .message = std::move(missing.message),
            .file = file.path,
            .severity = Diagnostic::Severity::Warning,
        };
        model::set_range(problem, range);
        if (!missing.meant.empty()) {
            problem.fixes.push_back(
                {.title = fmt::format("Replace \"{}\" with \"{}\"", place.name, missing.meant),
                 .range = range,
                 .replacement = missing.meant}
            );
        }
        file.problems.push_back(std::move(problem));
    }
    std::stable_sort(
        file.problems.begin(),
        file.problems.end(),
        [](const Diagnostic& a, const Diagnostic& b) {
            return std::pair(a.line, a.column) < std::pair(b.line, b.column);
        }
    );
}

}  // namespace

std::unique_ptr<HandlerLint> make_handler_lint(Session& session) {
    return std::make_unique<WorkspaceLint>(session);
}

}  // namespace ebb::cli
