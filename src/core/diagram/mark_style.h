#pragma once

#include <array>
#include <string>
#include <string_view>

#include <ebb/diagram.h>

// How a state looks. A color is never the only sign: each state also has its own symbol and word.

namespace ebb::diagram {

struct MarkColors {
    std::string_view fill;
    std::string_view stroke;
    std::string_view text;
};

struct MarkStyle {
    StepMark::State state;
    std::string_view words;  ///< `compensation failed`
    std::string_view sign;   ///< one Unicode character that needs no emoji font
    std::string_view ascii_sign;
    std::string_view ansi;  ///< the parameters of a terminal's SGR sequence
    MarkColors light;
    MarkColors dark;
};

inline constexpr std::size_t kStates = 10;

const std::array<MarkStyle, kStates>& mark_styles();

const MarkStyle& style_of(StepMark::State state);

/// How the note of a step begins that failed before it was undone; why follows.
inline constexpr std::string_view kFailedNote = "failed: ";

/// Whether the step failed, though it may have been undone since.
bool has_failed(const StepMark& mark);

/// The state that decides the mark's color: failed, even if the step was undone afterwards.
StepMark::State shown_state(const StepMark& mark);

/// The sign, and behind it the undo badge of a failed step that was undone.
std::string sign_of(const StepMark& mark);

/// `retrying, attempt 3: timeout`, `failed, then undone: card_declined`.
std::string mark_words(const StepMark& mark);

}  // namespace ebb::diagram
