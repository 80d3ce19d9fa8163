#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "lsp/document.h"

namespace ebb::lsp {

/// Names that several workflows use and that nothing declares.
enum class WordKind { Queue, Role, Signal };

struct SharedWord {
    WordKind kind = WordKind::Queue;
    std::string text{};
    std::size_t begin = 0;  ///< in a text in YAML or JSON

    bool operator==(const SharedWord&) const = default;
};

/// In the order of the text, or of the nodes that code in C++ builds.
std::vector<SharedWord> shared_words(const Document& document);

}  // namespace ebb::lsp
