#include "cli/progress_display.h"

#include <algorithm>

#include <fmt/format.h>

#include "cli/text.h"

namespace ebb::cli {

namespace {

constexpr int kLiveLinesMax = 12;
constexpr int kIndent = 2;
constexpr std::string_view kHideCursor = "\x1b[?25l";
constexpr std::string_view kShowCursor = "\x1b[?25h";
constexpr std::string_view kClearBelow = "\x1b[0J";

std::string indent(int depth) {
    return std::string(static_cast<std::size_t>(kIndent * (depth + 1)), ' ');
}

using Mark = ProgressLine::Mark;
using Color = Style::Color;

std::string mark_of(Mark mark, const Style& style) {
    const Glyphs& glyphs = style.glyphs();
    switch (mark) {
        case Mark::Done:
            return style.paint(Color::Green, glyphs.done);
        case Mark::Failed:
        case Mark::UndoFailed:
            return style.paint(Color::Red, glyphs.failed);
        case Mark::Retry:
            return style.paint(Color::Yellow, glyphs.retry);
        case Mark::Undone:
            return style.paint(Color::Magenta, glyphs.undone);
        case Mark::Waiting:
            return style.paint(Color::Yellow, glyphs.waiting);
        case Mark::Skipped:
            return style.paint(Color::Dim, glyphs.skipped);
        case Mark::Notice:
            break;
    }
    return style.paint(Color::Dim, glyphs.pending);
}

}  // namespace

ProgressDisplay::ProgressDisplay(Output& output, Style style)
    : output_(output), style_(std::move(style)) {}

ProgressDisplay::~ProgressDisplay() {
    try {
        finish();
    } catch (...) {
        // The reader has closed the output.
    }
}

std::string ProgressDisplay::text_of(const ProgressLine& line) const {
    std::string text = indent(line.depth) + mark_of(line.mark, style_);
    if (!line.name.empty()) text += " " + line.name;
    if (line.took > Duration::zero()) {
        text += " " + style_.dim(fmt::format("({})", elapsed(line.took)));
    }
    if (line.text.empty()) return text;
    if (line.name.empty()) return text + " " + line.text;
    const int columns = output_.is_terminal ? std::max(output_.columns() - 1, 20) : 0;
    const bool fits = display_width(text) + 2 + display_width(line.text) <= columns;
    if (columns == 0 || fits) return text + "  " + style_.dim(line.text);
    const std::string margin = indent(line.depth + 1);
    for (const std::string& part : wrap(line.text, columns - display_width(margin))) {
        text += "\n" + margin + style_.dim(part);
    }
    return text;
}

std::string ProgressDisplay::text_of(const LiveLine& line, TimePoint now) const {
    using Kind = LiveLine::Kind;
    std::string mark;
    Color color = Color::Cyan;
    if (line.kind == Kind::Running || line.kind == Kind::Undoing) {
        mark = style_.spinner(turn_);
        if (line.kind == Kind::Undoing) {
            color = Color::Magenta;
            mark = fmt::format("{} {}", style_.glyphs().undone, mark);
        }
    } else {
        color = Color::Yellow;
        mark = line.kind == Kind::Retrying ? style_.glyphs().retry : style_.glyphs().waiting;
    }
    std::string text = indent(line.depth) + style_.paint(color, mark) + " " + line.name;
    if (!line.text.empty()) text += "  " + style_.dim(line.text);
    if (line.until != kNever && line.until > now) {
        text += "  " + style_.dim(fmt::format("{} left", elapsed(line.until - now)));
    } else {
        text += "  " + style_.dim(elapsed(now - line.since));
    }
    return text;
}

void ProgressDisplay::add(std::string_view text) {
    added_ += text;
    added_ += '\n';
}

void ProgressDisplay::add(const ProgressLine& line) {
    add(text_of(line));
}

/// One write for each picture, to avoid flickering.
void ProgressDisplay::write(const std::string& lines_below, int count) {
    std::string picture;
    if (drawn_count_ > 0) picture += fmt::format("\r\x1b[{}A", drawn_count_);
    if (drawn_count_ > 0) picture += kClearBelow;
    picture += added_;
    picture += lines_below;
    if (count > 0 && !is_cursor_hidden_) picture = std::string(kHideCursor) + picture;
    if (count == 0 && is_cursor_hidden_) picture += kShowCursor;
    is_cursor_hidden_ = count > 0;
    drawn_ = lines_below;
    drawn_count_ = count;
    added_.clear();
    if (!picture.empty()) output_.write(picture);
}

void ProgressDisplay::draw(std::span<const LiveLine> live, TimePoint now) {
    if (!output_.is_terminal) return finish();
    ++turn_;
    const int columns = std::max(output_.columns() - 1, 20);
    std::string lines;
    int count = 0;
    for (const LiveLine& line : live) {
        if (count == kLiveLinesMax) {
            const auto rest = live.size() - kLiveLinesMax;
            lines += style_.dim(fmt::format("  {} and {} more", style_.glyphs().ellipsis, rest));
            lines += '\n';
            ++count;
            break;
        }
        lines += truncate(text_of(line, now), columns, style_.glyphs().ellipsis) + "\n";
        ++count;
    }
    if (added_.empty() && lines == drawn_) return;
    write(lines, count);
}

void ProgressDisplay::finish() {
    if (added_.empty() && drawn_count_ == 0 && !is_cursor_hidden_) return;
    write("", 0);
}

}  // namespace ebb::cli
