#pragma once

#include <string>
#include <string_view>

namespace ebb::source {

/// The page of the documentation that explains a code of a diagnostic, relative to `docs/` and with
/// its anchor: `reference/definition.md#unknown_key`.
std::string problem_page(std::string_view code);

/// The same as an address below `docs`, the folder or the site that has the pages; empty if `docs`
/// is. A site has the pages as HTML.
std::string problem_address(std::string_view docs, std::string_view code);

/// A page, relative to `docs/` and perhaps with an anchor, as an address below `docs`; empty if
/// `docs` is.
std::string page_address(std::string_view docs, std::string page);

}  // namespace ebb::source
