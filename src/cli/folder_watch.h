#pragma once

#include <stop_token>
#include <string>

#include <ebb/time.h>

#include "support/os_file.h"

namespace ebb::cli {

/// Waits for changes in a folder. Where the system does not report them (network file systems), the
/// caller's limit of time is what remains.
class FolderWatch {
 public:
    explicit FolderWatch(std::string folder);
    FolderWatch(const FolderWatch&) = delete;
    FolderWatch& operator=(const FolderWatch&) = delete;

    /// Returns when something has changed and then nothing for `quiet`, when `wake` was called,
    /// after `limit`, or when `stop` is requested.
    void wait(Duration limit, Duration quiet, const std::stop_token& stop);

    /// Ends the present or next wait. From any thread.
    void wake() noexcept;

 private:
    /// Watches the folder that has the name now: it may have been replaced.
    void watch_again();
    bool has_changed_within(Duration limit);

    const std::string folder_;
    FileDescriptor changes_;  ///< of inotify; none if the system has no more
    FileDescriptor bell_;
    int watch_ = -1;
};

}  // namespace ebb::cli
