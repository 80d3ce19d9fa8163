#include "support/os_process.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <optional>
#include <span>

#include <fmt/format.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/os_spawn.h"

namespace ebb {

namespace {

using SteadyTime = std::chrono::steady_clock::time_point;
using End = ProcessResult::End;

constexpr SteadyTime kNoTime = SteadyTime::max();

/// `by` after `now`, however long `by` is.
SteadyTime after(SteadyTime now, Duration by) {
    return by < kNoTime - now ? now + by : kNoTime;
}

/// Reads a text of any length and keeps its beginning and its end.
class HeadAndTailReader {
 public:
    explicit HeadAndTailReader(std::size_t bytes_max) : half_(bytes_max / 2) {}

    void append(std::string_view text) {
        const std::size_t to_head = std::min(text.size(), half_ - kept_.head.size());
        kept_.head += text.substr(0, to_head);
        kept_.tail += text.substr(to_head);
        if (kept_.tail.size() > 2 * half_) cut();
    }

    HeadAndTail take() {
        if (kept_.tail.size() > half_) cut();
        return std::move(kept_);
    }

 private:
    void cut() {
        const std::size_t surplus = kept_.tail.size() - half_;
        kept_.left_out += surplus;
        kept_.tail.erase(0, surplus);
    }

    std::size_t half_;
    HeadAndTail kept_;
};

/// Becomes readable when a stop is requested.
class StopSignal {
 public:
    explicit StopSignal(const std::stop_token& token) {
        if (!token.stop_possible()) return;
        event_ = FileDescriptor(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
        if (!event_.is_open()) throw ProcessNotStarted("No file descriptor is left for a process.");
        callback_.emplace(token, Ring{event_.get()});
    }

    int fd() const { return event_.get(); }

 private:
    struct Ring {
        int fd;

        void operator()() const noexcept { ::eventfd_write(fd, 1); }
    };

    FileDescriptor event_;
    std::optional<std::stop_callback<Ring>> callback_;
};

/// Watches one child to its end.
class Supervisor {
 public:
    Supervisor(const ProcessRequest& request, const StopSignal& stop, Child child)
        : request_(request),
          stop_(stop),
          child_(std::move(child)),
          errors_(request.errors_bytes_max),
          has_exited_(!child_.handle.is_open()) {
        if (has_exited_) kill_at_ = after(std::chrono::steady_clock::now(), kLingerMax);
    }

    Supervisor(const Supervisor&) = delete;
    Supervisor& operator=(const Supervisor&) = delete;

    /// After an exception, no program keeps running and no zombie stays.
    ~Supervisor() {
        if (is_reaped_) return;
        kill();
        wait();
    }

    ProcessResult run() {
        const SteadyTime timeout = request_.timeout > Duration(0)
                                       ? after(std::chrono::steady_clock::now(), request_.timeout)
                                       : kNoTime;
        while (!is_done()) {
            wait_for_news(std::min(kill_at_, reason_ || has_exited_ ? kNoTime : timeout));
            const SteadyTime now = std::chrono::steady_clock::now();
            read_output();
            read_errors();
            if (!has_exited_ && now >= timeout) terminate(End::TimedOut, now);
            if (now >= kill_at_) kill();
        }
        kill();
        read_output();
        read_errors();
        return reap();
    }

 private:
    bool is_done() const {
        const bool is_silent = !child_.output.is_open() && !child_.errors.is_open();
        return has_exited_ && (is_silent || is_killed_);
    }

    void wait_for_news(SteadyTime until) {
        // poll ignores negative descriptors: those are closed, or of no more interest.
        std::array<pollfd, 4> watched{{
            {has_exited_ ? -1 : child_.handle.get(), POLLIN, 0},
            {reason_ || has_exited_ ? -1 : stop_.fd(), POLLIN, 0},
            {child_.output.get(), POLLIN, 0},
            {child_.errors.get(), POLLIN, 0},
        }};
        ::poll(watched.data(), watched.size(), milliseconds_until(until));
        const SteadyTime now = std::chrono::steady_clock::now();
        if (watched[0].revents != 0) {
            has_exited_ = true;
            kill_at_ = std::min(kill_at_, after(now, kLingerMax));
        } else if (watched[1].revents != 0) {
            terminate(End::Stopped, now);
        }
    }

    static int milliseconds_until(SteadyTime until) {
        if (until == kNoTime) return -1;
        const auto left =
            std::chrono::ceil<std::chrono::milliseconds>(until - std::chrono::steady_clock::now());
        return static_cast<int>(std::clamp<std::int64_t>(left.count(), 0, 60'000));
    }

    void read_output() {
        read(child_.output, [this](std::string_view text) {
            const std::size_t room = request_.output_bytes_max - output_.size();
            output_ += text.substr(0, room);
            if (text.size() > room)
                terminate(End::OutputTooLarge, std::chrono::steady_clock::now());
        });
    }

    void read_errors() {
        read(child_.errors, [this](std::string_view text) { errors_.append(text); });
    }

    template <class Take>
    static void read(FileDescriptor& from, Take take) {
        // Bounded, so that an endless writer on one pipe cannot keep the other one, or a timeout,
        // waiting.
        constexpr int kReadsMax = 16;
        std::array<char, 64 * 1024> buffer;
        for (int i = 0; i < kReadsMax && from.is_open(); ++i) {
            const auto count = ::read(from.get(), buffer.data(), buffer.size());
            if (count > 0) {
                take(std::string_view(buffer.data(), static_cast<std::size_t>(count)));
            } else if (count == 0) {
                from.reset();
            } else if (errno != EINTR) {
                return;
            }
        }
    }

    /// The first reason counts.
    void terminate(End reason, SteadyTime now) {
        if (reason_) return;
        reason_ = reason;
        if (has_exited_) return;
        signal_group(SIGTERM);
        // A stopped program could not react.
        signal_group(SIGCONT);
        kill_at_ = after(now, request_.grace);
    }

    void kill() {
        signal_group(SIGKILL);
        is_killed_ = true;
        kill_at_ = kNoTime;
    }

    /// The child is not reaped yet, so neither its pid nor its group's number can be another's.
    void signal_group(int signal) const {
        if (!child_.handle.is_open()) return;
        // Twice the same signal means something else to many programs, so the child itself gets it
        // only if it has left the group that it was started in.
        const bool is_missed = ::kill(-child_.pid, signal) != 0;
        if (is_missed || signal == SIGKILL) ::kill(child_.pid, signal);
    }

    /// Empty if other code has taken the exit status.
    std::optional<siginfo_t> wait() const {
        siginfo_t info{};
        int waited = 0;
        do {
            waited = ::waitid(P_PID, static_cast<id_t>(child_.pid), &info, WEXITED);
        } while (waited != 0 && errno == EINTR);
        return waited == 0 ? std::optional(info) : std::nullopt;
    }

    ProcessResult reap() {
        const auto info = wait();
        is_reaped_ = true;
        ProcessResult result;
        result.output = std::move(output_);
        result.errors = errors_.take();
        if (!info) {
            result.end = End::Lost;
        } else if (info->si_code == CLD_EXITED) {
            result.exit_code = info->si_status;
        } else {
            result.end = End::Signalled;
            result.signal = info->si_status;
        }
        if (reason_) result.end = *reason_;
        return result;
    }

    const ProcessRequest& request_;
    const StopSignal& stop_;
    Child child_;
    std::string output_;
    HeadAndTailReader errors_;
    std::optional<End> reason_;  ///< why it was ended
    SteadyTime kill_at_ = kNoTime;
    bool has_exited_ = false;
    bool is_killed_ = false;
    bool is_reaped_ = false;
};

}  // namespace

std::string HeadAndTail::text() const {
    if (left_out == 0) return head + tail;
    return fmt::format("{}\n[... {} bytes left out ...]\n{}", head, left_out, tail);
}

ProcessResult run_process(const ProcessRequest& request) {
    if (request.stop.stop_requested()) {
        ProcessResult result;
        result.end = End::Stopped;
        return result;
    }
    const StopSignal stop(request.stop);
    return Supervisor(request, stop, spawn(request)).run();
}

}  // namespace ebb
