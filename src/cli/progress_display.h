#pragma once

#include <span>
#include <string>
#include <vector>

#include "cli/progress.h"
#include "cli/streams.h"
#include "cli/style.h"

namespace ebb::cli {

/// Shows progress on one output. On a terminal what happened scrolls by, and below it what goes on
/// is redrawn in place; elsewhere there is one plain line for everything that happened.
class ProgressDisplay {
 public:
    /// `output` must outlive it.
    ProgressDisplay(Output& output, Style style);
    ProgressDisplay(const ProgressDisplay&) = delete;
    ProgressDisplay& operator=(const ProgressDisplay&) = delete;
    /// Leaves the cursor below the last line, visible.
    ~ProgressDisplay();

    bool is_live() const { return output_.is_terminal; }

    /// Lines that stay.
    void add(std::string_view text);
    void add(const ProgressLine& line);
    /// Draws the current activity, and writes the added lines above it.
    void draw(std::span<const LiveLine> live, TimePoint now);
    /// Writes the added lines and removes the current activity.
    void finish();

    std::string text_of(const ProgressLine& line) const;

 private:
    std::string text_of(const LiveLine& line, TimePoint now) const;
    void write(const std::string& lines_below, int count);

    Output& output_;
    Style style_;
    std::string added_;
    std::string drawn_;  ///< the live lines on the screen
    int drawn_count_ = 0;
    int turn_ = 0;
    bool is_cursor_hidden_ = false;
};

}  // namespace ebb::cli
