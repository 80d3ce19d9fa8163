#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <sys/types.h>

#include "store/hints.h"
#include "support/os_file.h"

namespace ebb::sqlite {

/// Hints in a file beside the database: a line each. The listener makes the file, and inotify wakes
/// it when another process has written there. If no process listens, nothing is written.
///
/// It never says that messages are proven to arrive: older programs write to the same database
/// without any hint, so polling stays as frequent as without hints.
class HintFile final : public Hints {
 public:
    /// Of the database at `path`. Opens nothing yet.
    explicit HintFile(std::string path);

    Heard receive(Duration limit) override;
    void interrupt() override;
    void send(std::string_view message) override;

    static std::string path_of(const std::string& database) { return database + "-hints"; }

    /// A longer file is emptied by the process that has made it so long.
    static constexpr off_t kFileBytesMax = off_t{1} << 20;

 private:
    void connect();
    void wait(Duration limit) const;
    std::vector<std::string> read_new();
    std::vector<std::string> take_lines();
    [[noreturn]] void fail(std::string_view doing) const;

    const std::string database_;
    const std::string path_;
    const std::string name_;  // of this, before each message
    FileDescriptor interrupt_;
    FileDescriptor changes_;
    FileDescriptor file_;
    off_t read_to_ = 0;
    std::string unread_;  // the beginning of a line
};

}  // namespace ebb::sqlite
