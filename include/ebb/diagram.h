#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include <ebb/definition.h>
#include <ebb/print.h>

// Pictures of a workflow, and of one instance of it. All functions are pure and deterministic: the
// same arguments give the same bytes on every machine. They draw any definition, including one that
// `validate` refuses. Names, expressions and notes can contain any bytes: each writer escapes them
// for its format, and invalid UTF-8 and control characters appear as U+FFFD. The time grows
// linearly with the number of nodes.

namespace ebb {

/// The progress of an instance at one node.
struct StepMark {
    enum class State {
        Pending,
        Running,
        Retrying,
        Waiting,
        Completed,
        Failed,
        Skipped,
        Compensating,
        Compensated,
        CompensationFailed
    };

    State state = State::Pending;
    int attempts = 0;  ///< shown from the second attempt on
    std::string note;  ///< an error, what the node waits for, ...; one short line

    bool operator==(const StepMark&) const = default;
};

/// The name as the CLI, the API and the docs spell it: `pending`, ..., `compensation_failed`.
std::string_view to_string(StepMark::State state);

/// The marks of an instance by node name. A node without one is pending; names that the definition
/// lacks are ignored.
using StepMarks = std::map<std::string, StepMark>;

struct DiagramOptions {
    enum class Direction { Down, Right };
    enum class Compensations { Show, Hide };
    enum class Legend { Show, Hide };

    /// Present: the picture of an instance. Absent: the picture of the definition.
    std::optional<StepMarks> marks;
    Compensations compensations = Compensations::Show;
    Direction direction = Direction::Down;  ///< to_text ignores it
    /// Explains the states that occur. There is no legend without marks, or in to_text.
    Legend legend = Legend::Show;
};

/// A Mermaid flowchart, as GitHub, GitLab and many wikis draw it. Mermaid by default refuses more
/// than 500 edges or 50,000 characters (its options `maxEdges` and `maxTextSize`).
std::string to_mermaid(const Definition& definition, const DiagramOptions& options = {});

/// A Graphviz digraph in UTF-8, for `dot -Tsvg` and similar programs.
std::string to_dot(const Definition& definition, const DiagramOptions& options = {});

/// A complete SVG document, laid out without any other program. It follows the reader's light or
/// dark color scheme, loads nothing, runs nothing and has no ids, so that one page can contain
/// several. Long texts are cut; a tooltip has the whole text.
std::string to_svg(const Definition& definition, const DiagramOptions& options = {});

/// How to_text draws.
struct TextStyle {
    enum class Charset { Unicode, Ascii };
    enum class Colors { None, Ansi };

    Charset charset =
        Charset::Unicode;  ///< Ascii: no byte above 0x7e; other characters appear as `\u{e9}`
    Colors colors = Colors::None;
    /// Lines that are wider are wrapped below the name of their node; 0 = none is. A node deep in
    /// the tree has at least 30 columns.
    int columns = 0;
};

/// An indented tree for terminals; every line ends with a newline.
std::string to_text(
    const Definition& definition, const DiagramOptions& options = {}, const TextStyle& style = {}
);

}  // namespace ebb
