#include "cli/terminal.h"

#include <algorithm>
#include <cstdlib>

#include <fmt/format.h>
#include <unistd.h>

#include "support/clock.h"

namespace ebb::cli {

namespace {

bool has_utf8_locale() {
    for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
        const char* value = std::getenv(name);
        if (value == nullptr || *value == '\0') continue;
        const std::string_view text(value);
        return text.find("UTF-8") != std::string_view::npos ||
               text.find("utf8") != std::string_view::npos;
    }
    return false;
}

std::string painted(Color color, std::string_view text) {
    static constexpr std::string_view kCodes[] = {"0", "31", "32", "33", "34", "36", "90", "1"};
    return fmt::format("\033[{}m{}\033[0m", kCodes[static_cast<std::size_t>(color)], text);
}

}  // namespace

Terminal::Terminal(std::FILE* out, std::FILE* err)
    : out_(out),
      err_(err),
      err_is_terminal_(isatty(fileno(err)) == 1),
      has_unicode_(has_utf8_locale()) {
    set_color(ColorMode::Auto);
}

void Terminal::set_color(ColorMode mode) {
    const char* no_color = std::getenv("NO_COLOR");
    const bool is_wanted = no_color == nullptr || *no_color == '\0';
    const auto decide = [&](std::FILE* file) {
        if (mode != ColorMode::Auto) return mode == ColorMode::Always;
        return is_wanted && isatty(fileno(file)) == 1;
    };
    colors_out_ = decide(out_);
    colors_err_ = decide(err_);
}

void Terminal::write(std::FILE* file, std::string_view text) {
    clear_status();
    std::fwrite(text.data(), 1, text.size(), file);
    std::fflush(file);
}

void Terminal::status(std::string_view text) {
    if (!err_is_terminal_) return;
    const std::string line = fmt::format("\r\033[K{}", text);
    std::fwrite(line.data(), 1, line.size(), err_);
    std::fflush(err_);
    has_status_ = true;
}

void Terminal::clear_status() {
    if (!has_status_) return;
    has_status_ = false;
    std::fwrite("\r\033[K", 1, 4, err_);
    std::fflush(err_);
}

std::string Terminal::paint(Color color, std::string_view text) const {
    return colors_out_ ? painted(color, text) : std::string(text);
}

std::string Terminal::paint_err(Color color, std::string_view text) const {
    return colors_err_ ? painted(color, text) : std::string(text);
}

std::size_t display_width(std::string_view text) {
    std::size_t width = 0;
    for (std::size_t at = 0; at < text.size(); ++at) {
        if (text[at] == '\033') {
            at = std::min(text.find('m', at), text.size());
        } else if ((static_cast<unsigned char>(text[at]) & 0xC0) != 0x80) {
            ++width;
        }
    }
    return width;
}

std::string table(const std::vector<std::vector<std::string>>& rows, std::size_t indent) {
    std::vector<std::size_t> widths;
    for (const auto& row : rows) {
        widths.resize(std::max(widths.size(), row.size()));
        for (std::size_t i = 0; i < row.size(); ++i)
            widths[i] = std::max(widths[i], display_width(row[i]));
    }
    std::string text;
    for (const auto& row : rows) {
        text.append(indent, ' ');
        for (std::size_t i = 0; i < row.size(); ++i) {
            text += row[i];
            if (i + 1 < row.size()) text.append(widths[i] - display_width(row[i]) + 2, ' ');
        }
        text += '\n';
    }
    return text;
}

std::string human_duration(Duration duration) {
    const auto micros = duration.count();
    const auto seconds = micros / 1'000'000;
    if (micros < 1'000) return fmt::format("{} us", micros);
    if (seconds == 0) return fmt::format("{} ms", micros / 1'000);
    if (seconds < 60) return fmt::format("{:.1f} s", static_cast<double>(micros) / 1e6);
    if (seconds < 3'600) return fmt::format("{} m {:02} s", seconds / 60, seconds % 60);
    if (seconds < 86'400) return fmt::format("{} h {:02} m", seconds / 3'600, seconds / 60 % 60);
    return fmt::format("{} d {:02} h", seconds / 86'400, seconds / 3'600 % 24);
}

std::string human_time(TimePoint time) {
    std::string text = format_time(std::chrono::floor<std::chrono::seconds>(time));
    if (const auto at = text.find('T'); at != std::string::npos) text[at] = ' ';
    return text;
}

std::string shorten(std::string_view text, std::size_t width) {
    std::string short_text;
    std::size_t columns = 0;
    for (std::size_t at = 0; at < text.size();) {
        std::size_t next = at + 1;
        while (next < text.size() && (static_cast<unsigned char>(text[next]) & 0xC0) == 0x80)
            ++next;
        if (columns + 1 >= width && next < text.size()) return short_text + "…";
        const char c = text[at];
        short_text += c == '\n' || c == '\r' || c == '\t' ? std::string_view(" ")
                                                          : text.substr(at, next - at);
        ++columns;
        at = next;
    }
    return short_text;
}

}  // namespace ebb::cli
