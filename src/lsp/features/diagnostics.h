#pragma once

#include <cstddef>

#include <ebb/json.h>

#include "lsp/document.h"

namespace ebb::lsp {

/// One of them, as the protocol has it.
Json diagnostic_json(
    const Document& document, const CheckSettings& settings, const Diagnostic& problem
);

/// What `textDocument/publishDiagnostics` sends: the problems that `ebb validate --lint` finds.
Json diagnostics_json(const Document& document, const CheckSettings& settings);

/// The edits that remove the problems between two offsets, as code actions.
Json actions_json(
    const Document& document, const CheckSettings& settings, std::size_t begin, std::size_t end
);

/// One action with every edit that has no alternative; null if there is none.
Json fix_all_json(const Document& document, const CheckSettings& settings);

/// The types of semantic tokens.
Json token_legend();

}  // namespace ebb::lsp
