#pragma once

#include <map>
#include <string>
#include <string_view>

#include <ebb/diagram.h>

#include "core/diagram/mark_style.h"

// What a picture can say of a node besides what the definition says of it: how it differs from
// another version, or what of it is decided only when a program runs.

namespace ebb::diagram {

struct Note {
    enum class Kind { Added, Removed, Changed, Moved, Dynamic };

    Kind kind = Kind::Changed;
    std::string text{};  ///< what follows the word of the kind; of Dynamic all of it

    bool operator==(const Note&) const = default;
};

struct Notes {
    std::map<std::string, Note, std::less<>> nodes{};  ///< by the name of the node
    std::string headline{};  ///< instead of the workflow's description; empty = the description
};

struct NoteStyle {
    Note::Kind kind;
    std::string_view name;  ///< `added`
    std::string_view sign;
    std::string_view ascii_sign;
    std::string_view ansi;  ///< the parameters of a terminal's SGR sequence
    std::string_view icon;  ///< the path of a small drawing
    bool is_dashed;
    MarkColors light;
    MarkColors dark;
};

const NoteStyle& style_of(Note::Kind kind);

/// `added`, `changed: timeout, handler`, `for (const City& c : cities)`.
std::string note_words(const Note& note);

std::string to_mermaid(
    const Definition& definition, const DiagramOptions& options, const Notes& notes
);
std::string to_dot(const Definition& definition, const DiagramOptions& options, const Notes& notes);
/// PlantUML text: a description diagram between `@startuml` and `@enduml`, without a legend.
std::string to_plantuml(
    const Definition& definition, const DiagramOptions& options, const Notes& notes
);
/// Without names of nodes, as ebb::to_svg.
std::string to_svg(const Definition& definition, const DiagramOptions& options, const Notes& notes);
std::string to_text(
    const Definition& definition,
    const DiagramOptions& options,
    const TextStyle& style,
    const Notes& notes
);

}  // namespace ebb::diagram
