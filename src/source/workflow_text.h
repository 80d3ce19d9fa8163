#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <ebb/definition.h>
#include <ebb/type_library.h>

namespace ebb::yaml {
class LineTree;
}

// What a text says about workflows, for the command and the language server alike. Nothing here
// opens a file.

namespace ebb::source {

enum class TextKind {
    Other,
    Workflow,  ///< has `workflow` at the top, and what else a definition has
    Types,     ///< has `types` at the top
};

/// By name (`*.ebb.yaml`, `*.ebb.yml`, `*.ebb.json`) or by content, also of a broken text.
TextKind kind_of(std::string_view name, std::string_view text);
/// The same for a text whose tree is already there.
TextKind kind_of(std::string_view name, const yaml::LineTree& tree);

struct CheckOptions {
    std::string file{};                  ///< for the diagnostics; it is only named
    const TypeLibrary* types = nullptr;  ///< null = none
    bool with_lints = false;             ///< report warnings, too
};

struct CheckedText {
    TextKind kind = TextKind::Workflow;
    Definition definition{};  ///< as much of it as could be read
    /// In the order of the text; of a text that cannot be parsed also those of its other parts.
    std::vector<Diagnostic> problems{};

    /// Warnings do not count.
    bool is_valid() const;
};

/// Finds all problems of a workflow in YAML or JSON, those of its `handlers` included.
CheckedText check_workflow(std::string_view text, const CheckOptions& options = {});

/// The same for a file of types.
CheckedText check_types_text(std::string_view text, const CheckOptions& options = {});

/// Whichever the text is.
CheckedText check_text(std::string_view text, const CheckOptions& options = {});

}  // namespace ebb::source
