#include "cli/folder_watch.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <unistd.h>

namespace ebb::cli {

namespace {

constexpr std::uint32_t kChanges = IN_CREATE | IN_CLOSE_WRITE | IN_MOVED_TO | IN_MOVED_FROM |
                                   IN_DELETE | IN_ATTRIB | IN_DELETE_SELF | IN_MOVE_SELF;

int milliseconds(Duration duration) {
    const auto count = std::chrono::ceil<std::chrono::milliseconds>(duration).count();
    return static_cast<int>(std::clamp<std::int64_t>(count, 0, std::numeric_limits<int>::max()));
}

/// Reads everything that is there, and drops it.
void empty(const FileDescriptor& file) {
    std::array<char, 4'096> buffer{};
    while (read(file.get(), buffer.data(), buffer.size()) > 0) {
    }
}

}  // namespace

FolderWatch::FolderWatch(std::string folder)
    : folder_(std::move(folder)),
      changes_(inotify_init1(IN_NONBLOCK | IN_CLOEXEC)),
      bell_(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {
    if (!bell_.is_open()) throw_errno("eventfd");
    watch_again();
}

void FolderWatch::watch_again() {
    if (!changes_.is_open()) return;
    // The same folder gets the same watch.
    const int fresh = inotify_add_watch(changes_.get(), folder_.c_str(), kChanges);
    if (fresh < 0 || fresh == watch_) return;
    if (watch_ >= 0) inotify_rm_watch(changes_.get(), watch_);
    watch_ = fresh;
}

bool FolderWatch::has_changed_within(Duration limit) {
    std::array<pollfd, 2> files{
        pollfd{.fd = changes_.get(), .events = POLLIN, .revents = 0},
        pollfd{.fd = bell_.get(), .events = POLLIN, .revents = 0},
    };
    // A descriptor below zero is ignored.
    poll(files.data(), files.size(), milliseconds(limit));
    const bool has_changed = (files[0].revents & POLLIN) != 0;
    if (has_changed) empty(changes_);
    return has_changed;
}

void FolderWatch::wait(Duration limit, Duration quiet, const std::stop_token& stop) {
    const std::stop_callback waker(stop, [this] { wake(); });
    watch_again();
    if (has_changed_within(limit)) {
        // Not forever: what changes all the time is read in between.
        constexpr int kRoundsMax = 25;
        for (int rounds = 0; rounds < kRoundsMax; ++rounds) {
            if (stop.stop_requested() || !has_changed_within(quiet)) break;
        }
    }
    empty(bell_);
}

void FolderWatch::wake() noexcept {
    const std::uint64_t one = 1;
    [[maybe_unused]] const auto written = write(bell_.get(), &one, sizeof one);
}

}  // namespace ebb::cli
