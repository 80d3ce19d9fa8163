#pragma once

#include <string>
#include <string_view>

#include <ebb/error.h>

#include "core/model/document.h"

// Where a problem stands in the text, and the edits that remove it.

namespace ebb::model {

/// What to mark for a problem of `document`: of a block its first key, of all else the
/// whole.
SourceRange range_of(const Document& document);
SourceRange range_of_key(const Document::Member& member);

void set_range(Diagnostic& diagnostic, const SourceRange& range);

/// `text` instead of what stands at `range`; nothing if the place is unknown, or if `text` would
/// have to be quoted.
void add_replacement(
    Diagnostic& diagnostic, const SourceRange& range, std::string_view old, std::string_view text
);

/// Inserts `key` into `map` before its first key.
void add_missing_key(Diagnostic& diagnostic, const Document& map, std::string_view key);

}  // namespace ebb::model
