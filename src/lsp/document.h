#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include <ebb/json.h>

#include "lsp/positions.h"
#include "source/workflow_text.h"
#include "yaml/line_tree.h"

namespace ebb::lsp {

struct DocumentLimits {
    /// Larger texts have nothing.
    static constexpr std::size_t kBytesMax = std::size_t{8} << 20;
    static constexpr std::size_t kDiagnosticsMax = 500;
    static constexpr std::size_t kSymbolsMax = 5'000;
    static constexpr std::size_t kCompletionsMax = 200;
};

struct CheckSettings {
    const TypeLibrary* types = nullptr;
};

/// An open text with what is known of it. Whatever is derived from the text is made when it is
/// first asked for after a change.
class Document {
 public:
    Document(std::string uri, std::string text, Encoding encoding);

    const std::string& uri() const { return uri_; }

    const std::string& text() const { return text_; }

    /// Does it have to do with workflows?
    source::TextKind kind() const;
    const LineIndex& lines() const;
    const yaml::LineTree& tree() const;
    const source::CheckedText& checked(const CheckSettings& settings) const;

    /// One element of `contentChanges`. False if it is malformed.
    bool apply(const Json& change);

    std::int64_t version = 0;
    /// Its diagnostics are those of an earlier text.
    bool is_dirty = true;
    /// Diagnostics were sent, so they must be taken back when it is not a workflow any more.
    bool has_published = false;

 private:
    std::string uri_;
    std::string text_;
    Encoding encoding_;
    mutable std::unique_ptr<LineIndex> lines_;
    mutable std::unique_ptr<yaml::LineTree> tree_;
    mutable std::unique_ptr<source::CheckedText> checked_;
    mutable std::optional<source::TextKind> kind_;

    void forget();
};

}  // namespace ebb::lsp
