#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include <sys/types.h>

#include "support/os_file.h"

namespace ebb::cli::testing {

/// The built command `ebb` in a process of its own. Its output is read while it is waited for, so
/// it never blocks on a full pipe. A process that is still there at the end is killed.
class CliProcess {
 public:
    /// Runs it in `directory` with EBB_DB=`db`.
    CliProcess(
        const std::string& directory,
        const std::vector<std::string>& args,
        const std::string& db = "ebb.db"
    );
    CliProcess(const CliProcess&) = delete;
    CliProcess& operator=(const CliProcess&) = delete;
    ~CliProcess();

    /// Waits until stdout and stderr together contain `text`. False when the process ended first.
    bool wait_for(std::string_view text);

    /// Waits until stderr has that many whole lines. False when the process ended first.
    bool wait_for_lines(std::size_t count);

    void signal(int number) const;

    /// Waits for the end. Its exit code, or 128 + the signal that killed it.
    int wait();

    const std::string& out() const { return texts_[0]; }

    const std::string& err() const { return texts_[1]; }

    pid_t pid() const { return pid_; }

 private:
    bool read_some();

    pid_t pid_ = -1;
    bool is_reaped_ = false;
    int code_ = -1;
    std::array<int, 2> pipes_{-1, -1};
    std::array<std::string, 2> texts_;
};

}  // namespace ebb::cli::testing
