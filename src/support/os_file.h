#pragma once

#include <filesystem>
#include <string_view>
#include <utility>

namespace ebb {

/// Owns a file descriptor. -1 = none.
class FileDescriptor {
 public:
    FileDescriptor() = default;

    explicit FileDescriptor(int fd) : fd_(fd) {}

    FileDescriptor(FileDescriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}

    FileDescriptor& operator=(FileDescriptor&& other) noexcept {
        std::swap(fd_, other.fd_);
        return *this;
    }

    ~FileDescriptor() { reset(); }

    int get() const { return fd_; }

    bool is_open() const { return fd_ >= 0; }

    /// The caller closes it from now on.
    int release() noexcept { return std::exchange(fd_, -1); }

    void reset() noexcept;

 private:
    int fd_ = -1;
};

/// Throws std::system_error with `errno` and `what` as the message.
[[noreturn]] void throw_errno(const char* what);

/// Writes all of `text`. Throws std::system_error.
void write_all(const FileDescriptor& file, std::string_view text);

/// Makes an empty file at `path` that only this user can read and write, if nothing is there yet.
/// Whether it succeeded shows when the file is opened.
void make_private_file(const std::filesystem::path& path) noexcept;

/// A new directory in the system's place for temporary files ($TMPDIR) that only this user can
/// enter. It and all it contains goes when the object does. Throws std::system_error when it cannot
/// be made.
class TempDirectory {
 public:
    TempDirectory();
    TempDirectory(const TempDirectory&) = delete;
    TempDirectory& operator=(const TempDirectory&) = delete;
    ~TempDirectory();

    const std::filesystem::path& path() const { return path_; }

    /// Makes a file that only this user can read. Returns its path. Throws std::system_error.
    std::filesystem::path add(std::string_view name, std::string_view content) const;

 private:
    std::filesystem::path path_;
};

}  // namespace ebb
