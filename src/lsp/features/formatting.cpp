// `textDocument/formatting` of a workflow in YAML. JSON has formatters of its own.

#include <nlohmann/json.hpp>

#include "lsp/format.h"
#include "lsp/lsp.h"

namespace ebb::lsp {

Json Server::format(const Json& params) {
    const Document* document = document_of(params);
    if (document == nullptr || document->uri().ends_with(".json")) return nullptr;
    Json edits = Json::array();
    for (const TextEdit& edit : format_edits(document->text())) {
        edits.push_back(
            {{"range", range_json(document->lines(), edit.begin, edit.end)}, {"newText", edit.text}}
        );
    }
    return edits;
}

}  // namespace ebb::lsp
