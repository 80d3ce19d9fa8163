#include "cli/interrupts.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdint>

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

namespace ebb::cli {

namespace {

/// The first asks politely, the second insists, the third is for a handler that does not listen.
constexpr int kInterruptsMax = 3;
constexpr std::array kSignals{SIGINT, SIGTERM, SIGHUP};

// A signal handler has no other way to reach anything.
std::atomic<Interrupts*> caught_by{nullptr};

void on_signal(int signal) {
    const int error = errno;
    Interrupts* interrupts = caught_by;
    if (interrupts != nullptr && signal == SIGHUP && interrupts->reloads_on_hangup()) {
        interrupts->request_reload();
    } else if (interrupts != nullptr) {
        if (interrupts->count() >= kInterruptsMax) _exit(128 + signal);
        interrupts->interrupt(signal);
    }
    errno = error;
}

void set_action(void (*action)(int)) {
    struct sigaction act{};
    act.sa_handler = action;
    sigemptyset(&act.sa_mask);
    act.sa_flags = SA_RESTART;
    for (const int signal : kSignals) sigaction(signal, &act, nullptr);
}

}  // namespace

Interrupts::Interrupts() : bell_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
    if (!bell_.is_open()) throw_errno("Cannot make an eventfd");
}

void Interrupts::interrupt(int signal) noexcept {
    int none = 0;
    first_signal_.compare_exchange_strong(none, signal);
    ++count_;
    notify();
}

void Interrupts::request_reload() noexcept {
    wants_reload_ = true;
    notify();
}

void Interrupts::notify() noexcept {
    const std::uint64_t one = 1;
    // It fails only when it has rung 2^64 times unheard.
    [[maybe_unused]] const auto written = write(bell_.get(), &one, sizeof one);
}

void Interrupts::wait(Duration timeout) {
    constexpr Duration kPollMax = std::chrono::hours(1);
    const auto milliseconds =
        std::chrono::ceil<std::chrono::milliseconds>(std::clamp(timeout, Duration::zero(), kPollMax)
        );
    pollfd wanted{.fd = bell_.get(), .events = POLLIN, .revents = 0};
    if (poll(&wanted, 1, static_cast<int>(milliseconds.count())) <= 0) return;
    std::uint64_t rung = 0;
    [[maybe_unused]] const auto read_bytes = read(bell_.get(), &rung, sizeof rung);
}

SignalCatcher::SignalCatcher(Interrupts& interrupts) {
    caught_by = &interrupts;
    set_action(on_signal);
}

SignalCatcher::~SignalCatcher() {
    set_action(SIG_DFL);
    caught_by = nullptr;
}

}  // namespace ebb::cli
