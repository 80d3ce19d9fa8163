// `ebb/expand` and `ebb/definitionJson`: what the engine makes of the text.

#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <ebb/yaml.h>

#include "lsp/features/cpp.h"
#include "lsp/lsp.h"

namespace ebb::lsp {

namespace {

/// The definition of a text without a problem. Throws what the problem is.
const Definition& definition_of(
    const Document& document, const CheckSettings& settings, const Json& params
) {
    if (document.is_cpp()) {
        const source::CppWorkflow& workflow = wanted_workflow(document, params);
        const bool is_whole = workflow.is_exact() &&
                              source::check_cpp(workflow, document.text(), document.uri()).empty();
        if (is_whole) return workflow.definition;
        throw Error(
            ErrorCode::InvalidArgument,
            "Parts of this workflow have problems or are decided when the program runs."
        );
    }
    const source::CheckedText& checked = document.checked(settings);
    if (checked.kind == source::TextKind::Workflow && checked.is_valid()) {
        return checked.definition;
    }
    throw Error(ErrorCode::InvalidArgument, "This text has problems, so it is not a workflow yet.");
}

}  // namespace

Json Server::expand(const Json& params) {
    const Document* document = either_document_of(params);
    if (document == nullptr) {
        throw Error(ErrorCode::InvalidArgument, "This document is not open, or no workflow.");
    }
    const Definition& definition = definition_of(*document, settings(), params);
    return {
        {"workflow", definition.name},
        {"text", definition_to_yaml(definition)},
        {"version", document->version}
    };
}

Json Server::tell_definition(const Json& params) {
    const Document* document = either_document_of(params);
    if (document == nullptr) {
        throw Error(ErrorCode::InvalidArgument, "This document is not open, or no workflow.");
    }
    return {
        {"definition", definition_to_json(definition_of(*document, settings(), params))},
        {"version", document->version}
    };
}

}  // namespace ebb::lsp
