#include "cli/watching.h"

#include <algorithm>

#include <fmt/format.h>

#include "cli/patience.h"
#include "cli/text.h"

namespace ebb::cli {

namespace {

constexpr std::string_view kHome = "\x1b[H";
constexpr std::string_view kClearLine = "\x1b[K";
constexpr std::string_view kClearBelow = "\x1b[J";
constexpr std::string_view kEnter = "\x1b[?1049h\x1b[?25l";
constexpr std::string_view kLeave = "\x1b[?25h\x1b[?1049l";

/// The pictures on a screen of their own, so that what was there before comes back.
class Screen {
 public:
    explicit Screen(Output& output) : output_(output) {
        if (output_.is_terminal) output_.write(kEnter);
    }

    Screen(const Screen&) = delete;
    Screen& operator=(const Screen&) = delete;

    ~Screen() {
        try {
            leave();
        } catch (...) {
            // The terminal has gone.
        }
    }

    void show(const std::string& picture) {
        if (!output_.is_terminal) {
            output_.write((last_.empty() ? "" : "\n") + picture);
            last_ = picture;
            return;
        }
        last_ = picture;
        std::string text(kHome);
        const int rows = std::max(output_.rows() - 1, 1);
        std::size_t at = 0;
        for (int row = 0; row < rows && at < picture.size(); ++row) {
            const std::size_t end = std::min(picture.find('\n', at), picture.size());
            text.append(picture, at, end - at).append(kClearLine).append("\r\n");
            at = end + 1;
        }
        output_.write(text.append(kClearBelow));
    }

    void leave() {
        if (!output_.is_terminal || has_left_) return;
        has_left_ = true;
        output_.write(std::string(kLeave) + last_);
    }

 private:
    Output& output_;
    std::string last_;
    bool has_left_ = false;
};

}  // namespace

int watch(Session& session, Duration every, const std::function<void(Watched&)>& look) {
    Interrupts interrupts;
    const auto caught = session.streams().catch_signals(interrupts);
    Screen screen(session.streams().out);
    std::string trouble;
    Patience patience([&](const std::string& text) { trouble = text; });
    bool has_seen = false;
    while (interrupts.count() == 0) {
        Watched watched;
        bool is_reached = true;
        if (has_seen) {
            is_reached = patience.reach([&] { look(watched); });
        } else {
            look(watched);
            has_seen = true;
        }
        if (is_reached) trouble.clear();
        if (!watched.picture.empty()) screen.show(watched.picture);
        if (!trouble.empty() && session.streams().out.is_terminal) {
            screen.show(session.out().paint(Style::Color::Red, one_line(trouble)) + "\n");
        }
        if (watched.is_over) break;
        interrupts.wait(is_reached ? every : patience.pause());
    }
    screen.leave();
    return kOk;
}

}  // namespace ebb::cli
