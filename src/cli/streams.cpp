#include "cli/streams.h"

#include <array>
#include <cerrno>
#include <csignal>

#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "support/os_environment.h"
#include "support/sync.h"

namespace ebb::cli {

namespace {

constexpr int kDefaultColumns = 80;
constexpr int kDefaultRows = 24;

void write_to(int fd, std::string_view text) {
    while (!text.empty()) {
        const ssize_t written = ::write(fd, text.data(), text.size());
        if (written >= 0) {
            text.remove_prefix(static_cast<std::size_t>(written));
        } else if (errno == EPIPE) {
            throw OutputClosed{};
        } else if (errno != EINTR && errno != EAGAIN) {
            throw_errno("Cannot write the output");
        }
    }
}

int columns_of(int fd) {
    winsize size{};
    if (ioctl(fd, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return kDefaultColumns;
    return size.ws_col;
}

int rows_of(int fd) {
    winsize size{};
    if (ioctl(fd, TIOCGWINSZ, &size) != 0 || size.ws_row == 0) return kDefaultRows;
    return size.ws_row;
}

Output output_of(int fd) {
    auto mutex = std::make_shared<Mutex>();
    return {
        .write =
            [fd, mutex](std::string_view text) {
                const Lock lock(*mutex);
                write_to(fd, text);
            },
        .is_terminal = isatty(fd) == 1,
        .columns = [fd] { return columns_of(fd); },
        .rows = [fd] { return rows_of(fd); },
    };
}

std::string read_all(int fd) {
    std::string text;
    std::array<char, 1 << 16> buffer{};
    while (true) {
        const ssize_t got = ::read(fd, buffer.data(), buffer.size());
        if (got == 0) return text;
        if (got > 0) {
            text.append(buffer.data(), static_cast<std::size_t>(got));
        } else if (errno != EINTR) {
            throw_errno("Cannot read from stdin");
        }
    }
}

std::string read_some(int fd, bool may_wait, const std::function<bool()>& is_over) {
    constexpr int kLookMilliseconds = 30'000;
    std::string text(std::size_t{1} << 16, '\0');
    while (true) {
        pollfd ready{.fd = fd, .events = POLLIN, .revents = 0};
        int count = ::poll(&ready, 1, 0);
        if (count == 0 && may_wait && !is_over()) count = ::poll(&ready, 1, kLookMilliseconds);
        if (count == 0 && may_wait && !is_over()) continue;
        if (count == 0) return {};
        const ssize_t got = count < 0 ? -1 : ::read(fd, text.data(), text.size());
        if (got >= 0) {
            text.resize(static_cast<std::size_t>(got));
            return text;
        }
        if (errno != EINTR) throw_errno("Cannot read from stdin");
    }
}

}  // namespace

CliStreams system_streams() {
    static const SystemClock clock;
    return {
        .out = output_of(STDOUT_FILENO),
        .err = output_of(STDERR_FILENO),
        .read_input = [] { return read_all(STDIN_FILENO); },
        .read_some = [](bool may_wait, const std::function<bool()>& is_over
                     ) { return read_some(STDIN_FILENO, may_wait, is_over); },
        .environment = [](const std::string& name) { return environment_variable(name); },
        .catch_signals = [](Interrupts& interrupts) -> std::shared_ptr<void> {
            return std::make_shared<SignalCatcher>(interrupts);
        },
        .clock = &clock,
    };
}

}  // namespace ebb::cli
