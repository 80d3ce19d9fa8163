#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <ebb/json.h>

#include "lsp/document.h"
#include "lsp/format.h"

// Code actions that change the text in more than one place, or that keep what it means. Each adds
// to the list of actions what is possible at the selection.

namespace ebb::lsp {

/// Offsets of the text; the same twice for a cursor.
struct Selection {
    std::size_t begin = 0;
    std::size_t end = 0;
};

/// Repairs that need more than the diagnostic knows: another name for a duplicate, a unit for a
/// duration, and quotes for an expression in braces.
void add_repairs(
    const Document& document,
    const CheckSettings& settings,
    const Selection& selection,
    Json& actions
);

/// A second document goes to a file of its own. The client can create files.
void add_document_moves(
    const Document& document,
    const CheckSettings& settings,
    const Selection& selection,
    Json& actions
);

/// For a merge key `<<`: what it takes is written out, or goes to `defaults:`.
void add_merge_key_repairs(
    const Document& document,
    const CheckSettings& settings,
    const Selection& selection,
    Json& actions
);

/// The keys of the map that is selected, in the order in which the reference has them.
void add_key_sorting(const Document& document, const Selection& selection, Json& actions);

/// An entry in `handlers:` for a handler that nothing describes and no code registers.
void add_descriptions(
    const Document& document,
    const CheckSettings& settings,
    const Selection& selection,
    Json& actions
);

/// Other ways to write the same: a step as a word or a map, a node and a list on one line or on
/// several, steps in a row or joined by edges; and the selected nodes inside of a condition, a loop
/// or a parallel.
void add_rewrites(const Document& document, const Selection& selection, Json& actions);

/// What all steps say goes to `defaults:`, if that changes nothing.
void add_extractions(const Document& document, const Selection& selection, Json& actions);

/// The code that registers the handler whose name is selected, for the clipboard. The client has
/// the command `ebb.copyText`.
void add_stubs(const Document& document, const Selection& selection, Json& actions);

}  // namespace ebb::lsp
