#include "cli/state_signal.h"

#include <atomic>
#include <cerrno>
#include <csignal>

namespace ebb::cli {

namespace {

// A signal handler has no other way to reach anything.
std::atomic<Interrupts*> rung{nullptr};
std::atomic<bool> is_asked{false};

void on_signal(int /*signal*/) {
    const int error = errno;
    is_asked = true;
    if (Interrupts* interrupts = rung) interrupts->notify();
    errno = error;
}

void set_action(void (*action)(int)) {
    struct sigaction act{};
    act.sa_handler = action;
    sigemptyset(&act.sa_mask);
    act.sa_flags = SA_RESTART;
    sigaction(SIGUSR1, &act, nullptr);
}

}  // namespace

StateSignal::StateSignal(Interrupts& interrupts) {
    rung = &interrupts;
    set_action(on_signal);
}

StateSignal::~StateSignal() {
    set_action(SIG_DFL);
    rung = nullptr;
}

bool StateSignal::take() {
    return is_asked.exchange(false);
}

}  // namespace ebb::cli
