#include "core/diagram/notes.h"

#include <array>

namespace ebb::diagram {

namespace {

constexpr std::array<NoteStyle, 5> kNoteStyles{{
    {Note::Kind::Added,
     "added",
     "+",
     "+",
     "32",
     "M-4.6,0H4.6M0,-4.6V4.6",
     false,
     {"#dcfce7", "#16a34a", "#166534"},
     {"#052e16", "#4ade80", "#bbf7d0"}},
    {Note::Kind::Removed,
     "removed",
     "−",
     "-",
     "1;31",
     "M-4.6,0H4.6",
     true,
     {"#fee2e2", "#dc2626", "#991b1b"},
     {"#450a0a", "#f87171", "#fecaca"}},
    {Note::Kind::Changed,
     "changed",
     "~",
     "~",
     "1;33",
     "M-5,1.5C-3,-4 -1,-3 0,0S3,4 5,-1.5",
     false,
     {"#fef3c7", "#d97706", "#92400e"},
     {"#451a03", "#fbbf24", "#fde68a"}},
    {Note::Kind::Moved,
     "moved",
     "↕",
     ">",
     "1;34",
     "M0,-5V5M-2.6,-2.4L0,-5L2.6,-2.4M-2.6,2.4L0,5L2.6,2.4",
     false,
     {"#dbeafe", "#2563eb", "#1e40af"},
     {"#172554", "#60a5fa", "#bfdbfe"}},
    {Note::Kind::Dynamic,
     "dynamic",
     "┆",
     ":",
     "35",
     "M-3,-4.6L3,0L-3,4.6",
     true,
     {"#faf5ff", "#9333ea", "#6b21a8"},
     {"#2e1065", "#c084fc", "#e9d5ff"}},
}};

}  // namespace

const NoteStyle& style_of(Note::Kind kind) {
    return kNoteStyles.at(static_cast<std::size_t>(kind));
}

std::string note_words(const Note& note) {
    if (note.kind == Note::Kind::Dynamic) return note.text;
    std::string words(style_of(note.kind).name);
    if (!note.text.empty()) words += ": " + note.text;
    return words;
}

}  // namespace ebb::diagram
