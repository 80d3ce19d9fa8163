#pragma once

#include <string>
#include <string_view>

namespace ebb::lsp {

/// The path of a `file:` URI of this machine; empty for any other.
std::string path_of_uri(std::string_view uri);

/// In the spelling that VS Code has: all is escaped but letters, digits and `-._~/`.
std::string uri_of_path(std::string_view path);

/// One spelling of a URI that clients spell in several ways.
std::string canonical_uri(const std::string& uri);

}  // namespace ebb::lsp
