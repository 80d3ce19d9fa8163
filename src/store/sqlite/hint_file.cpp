#include "store/sqlite/hint_file.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include <ebb/error.h>

#include "support/uuid.h"

namespace ebb::sqlite {

namespace {

constexpr Duration kLongestWait = std::chrono::hours(1);
constexpr mode_t kReadWrite = 0666;
constexpr std::size_t kLineBytesMax = Hints::kMessageBytesMax + 64;

/// As SQLite does for its own files beside the database: users of the one can use the other.
void take_over_rights(const FileDescriptor& file, const std::string& database) {
    struct stat info{};
    if (::stat(database.c_str(), &info) != 0) return;
    ::fchmod(file.get(), info.st_mode & kReadWrite);
    if (::geteuid() != 0) return;
    [[maybe_unused]] const int result = ::fchown(file.get(), info.st_uid, info.st_gid);
}

}  // namespace

HintFile::HintFile(std::string path)
    : database_(std::move(path)),
      path_(path_of(database_)),
      name_(fmt::format("{:016x}", random_bits())),
      interrupt_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
    if (!interrupt_.is_open()) throw_errno("eventfd");
}

void HintFile::interrupt() {
    const std::uint64_t one = 1;
    // It fails only when it is already more than full, and then does not matter.
    [[maybe_unused]] const auto written = ::write(interrupt_.get(), &one, sizeof one);
}

Hints::Heard HintFile::receive(Duration limit) {
    if (file_.is_open()) {
        wait(limit);
    } else {
        connect();
    }
    std::uint64_t count = 0;
    [[maybe_unused]] const auto drained = ::read(interrupt_.get(), &count, sizeof count);
    return {.messages = read_new()};
}

void HintFile::connect() {
    FileDescriptor made(::open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
    if (made.is_open()) take_over_rights(made, database_);
    FileDescriptor file(::open(path_.c_str(), O_RDONLY | O_CLOEXEC));
    if (!file.is_open()) fail("opening");
    FileDescriptor changes(::inotify_init1(IN_NONBLOCK | IN_CLOEXEC));
    if (!changes.is_open()) fail("watching");
    if (::inotify_add_watch(changes.get(), path_.c_str(), IN_MODIFY | IN_ATTRIB) < 0) {
        fail("watching");
    }
    // What is in a new file came after it was made, and before it was watched.
    read_to_ = made.is_open() ? 0 : ::lseek(file.get(), 0, SEEK_END);
    unread_.clear();
    changes_ = std::move(changes);
    file_ = std::move(file);
}

void HintFile::wait(Duration limit) const {
    const auto shortened = std::chrono::ceil<std::chrono::milliseconds>(
        std::clamp(limit, Duration::zero(), kLongestWait)
    );
    std::array<pollfd, 2> sources{
        pollfd{.fd = changes_.get(), .events = POLLIN, .revents = 0},
        pollfd{.fd = interrupt_.get(), .events = POLLIN, .revents = 0}
    };
    ::poll(sources.data(), sources.size(), static_cast<int>(shortened.count()));
}

std::vector<std::string> HintFile::read_new() {
    std::array<char, 16'384> buffer{};
    while (::read(changes_.get(), buffer.data(), buffer.size()) > 0) {
    }
    struct stat info{};
    if (::fstat(file_.get(), &info) != 0) fail("reading");
    if (info.st_size < read_to_) {
        read_to_ = 0;
        unread_.clear();
    }
    while (true) {
        const auto size = ::pread(file_.get(), buffer.data(), buffer.size(), read_to_);
        if (size < 0 && errno == EINTR) continue;
        if (size < 0) fail("reading");
        if (size == 0) break;
        unread_.append(buffer.data(), static_cast<std::size_t>(size));
        read_to_ += size;
    }
    // Removed: the next look makes it again.
    if (info.st_nlink == 0) file_.reset();
    return take_lines();
}

std::vector<std::string> HintFile::take_lines() {
    std::vector<std::string> messages;
    std::size_t begin = 0;
    for (std::size_t end = 0; (end = unread_.find('\n', begin)) != std::string::npos;
         begin = end + 1) {
        const std::string_view line = std::string_view(unread_).substr(begin, end - begin);
        const bool is_own = line.starts_with(name_);
        if (!is_own && line.size() > name_.size()) messages.emplace_back(line.substr(name_.size()));
    }
    unread_.erase(0, begin);
    if (unread_.size() > kLineBytesMax) unread_.clear();
    return messages;
}

void HintFile::send(std::string_view message) {
    if (message.size() > kMessageBytesMax || message.find('\n') != std::string_view::npos) {
        throw Error(
            ErrorCode::InvalidArgument,
            fmt::format(
                "A hint is one line of at most {} bytes, not {} bytes.",
                kMessageBytesMax,
                message.size()
            )
        );
    }
    const FileDescriptor file(::open(path_.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC));
    if (!file.is_open() && errno == ENOENT) return;
    if (!file.is_open()) fail("opening");
    // In one piece, so that lines of several processes do not mix.
    const std::string line = fmt::format("{}{}\n", name_, message);
    if (::write(file.get(), line.data(), line.size()) != std::ssize(line)) fail("writing");
    const bool is_long = ::lseek(file.get(), 0, SEEK_END) > kFileBytesMax;
    if (is_long && ::ftruncate(file.get(), 0) != 0) fail("emptying");
}

void HintFile::fail(std::string_view doing) const {
    const std::string reason = std::generic_category().message(errno);
    throw Error(
        ErrorCode::StoreUnavailable,
        fmt::format("The hints file \"{}\" failed while {}: {}.", path_, doing, reason)
    );
}

}  // namespace ebb::sqlite
