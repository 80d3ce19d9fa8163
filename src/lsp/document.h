#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <ebb/json.h>

#include "lsp/positions.h"
#include "source/cpp_workflow.h"
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

class WorkspaceIndex;

struct CheckSettings {
    const TypeLibrary* types = nullptr;
    const WorkspaceIndex* index = nullptr;  ///< of the workspace's files; null = none
    bool is_index_whole = false;            ///< all files of the workspace were read
    std::string_view docs{};  ///< where the pages of the documentation are; empty = unknown
};

/// An open text with what is known of it. Whatever is derived from the text is made when it is
/// first asked for after a change.
class Document {
 public:
    Document(std::string uri, std::string text, Encoding encoding);

    const std::string& uri() const { return uri_; }

    const std::string& text() const { return text_; }

    /// Is it code in C++, by its name? Then it has `cpp()`, and no kind, tree or definition.
    bool is_cpp() const { return is_cpp_; }

    /// The workflows that the code builds and the handlers that it registers.
    const source::CppFile& cpp() const;

    /// Does it have to do with workflows? Code in C++ is of the kind Other.
    source::TextKind kind() const;
    const LineIndex& lines() const;
    const yaml::LineTree& tree() const;
    /// Of code in C++ the problems of its workflows.
    const source::CheckedText& checked(const CheckSettings& settings) const;

    /// One element of `contentChanges`. False if it is malformed.
    bool apply(const Json& change);

    /// What is derived from the text is made again, because what it depends on has changed.
    void forget();

    std::int64_t version = 0;
    /// Its diagnostics are those of an earlier text.
    bool is_dirty = true;
    /// The index of names has those of an earlier text.
    bool is_index_old = true;
    /// Diagnostics were sent, so they must be taken back when it is not a workflow any more.
    bool has_published = false;
    /// The client has a picture, and no notice yet that the text has changed since.
    bool is_drawn = false;
    bool is_picture_old = false;

 private:
    std::string uri_;
    std::string text_;
    Encoding encoding_;
    bool is_cpp_;
    mutable std::unique_ptr<source::CppFile> cpp_;
    mutable std::unique_ptr<LineIndex> lines_;
    mutable std::unique_ptr<yaml::LineTree> tree_;
    mutable std::unique_ptr<source::CheckedText> checked_;
    mutable std::optional<source::TextKind> kind_;
};

}  // namespace ebb::lsp
