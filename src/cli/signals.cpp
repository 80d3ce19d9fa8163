#include "cli/signals.h"

#include <array>
#include <cerrno>

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

namespace ebb::cli {

namespace {

// A signal's handler can reach nothing but globals.
volatile sig_atomic_t signals_seen = 0;
std::array<int, 2> wake_pipe{-1, -1};
struct sigaction old_int;
struct sigaction old_term;

void on_signal(int number) {
    const int saved = errno;
    signals_seen = signals_seen + 1;
    if (signals_seen >= 3) _exit(128 + number);
    const char byte = 1;
    [[maybe_unused]] const auto written = write(wake_pipe[1], &byte, 1);
    errno = saved;
}

}  // namespace

SignalCounter::SignalCounter() {
    signals_seen = 0;
    if (pipe2(wake_pipe.data(), O_CLOEXEC | O_NONBLOCK) != 0) wake_pipe = {-1, -1};
    struct sigaction action{};
    action.sa_handler = on_signal;
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, &old_int);
    sigaction(SIGTERM, &action, &old_term);
}

SignalCounter::~SignalCounter() {
    sigaction(SIGINT, &old_int, nullptr);
    sigaction(SIGTERM, &old_term, nullptr);
    for (int& end : wake_pipe) {
        if (end >= 0) close(end);
        end = -1;
    }
}

int SignalCounter::count() const {
    return signals_seen;
}

int SignalCounter::wait(int milliseconds) const {
    pollfd wake{.fd = wake_pipe[0], .events = POLLIN, .revents = 0};
    if (poll(&wake, 1, milliseconds) > 0) {
        char bytes[16];
        [[maybe_unused]] const auto got = read(wake_pipe[0], bytes, sizeof bytes);
    }
    return signals_seen;
}

}  // namespace ebb::cli
