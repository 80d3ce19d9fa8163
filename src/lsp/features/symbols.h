#pragma once

#include <string_view>

namespace ebb::lsp {

/// As the protocol numbers them.
enum class SymbolKind { Module = 2, Class = 5, Method = 6, Function = 12, Key = 20, Event = 24 };

/// Of a kind of node.
SymbolKind symbol_of(std::string_view kind);

}  // namespace ebb::lsp
