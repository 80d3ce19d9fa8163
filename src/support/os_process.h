#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include <ebb/time.h>

namespace ebb {

/// A program to run and the bounds it is held to.
struct ProcessRequest {
    /// The first is the program: looked up in PATH of `environment` when it contains no slash, else
    /// relative to `working_directory`.
    std::vector<std::string> arguments{};
    std::map<std::string, std::string> environment{};  ///< all of it: nothing is inherited
    std::filesystem::path working_directory{};         ///< empty = this process's
    std::string_view input{};  ///< its stdin: a file in memory, so the program need not read it
    std::size_t output_bytes_max = std::size_t{1} << 20;
    std::size_t errors_bytes_max = std::size_t{8} << 10;
    Duration timeout{0};                       ///< 0 = none
    Duration grace = std::chrono::seconds(5);  ///< between SIGTERM and SIGKILL
    std::stop_token stop{};
};

/// The beginning and the end of a text of any length.
struct HeadAndTail {
    std::string head;
    std::string tail;
    std::size_t left_out = 0;  ///< bytes between the two

    /// Head and tail with a line between them that says what was left out.
    std::string text() const;

    bool operator==(const HeadAndTail&) const = default;
};

/// How a program ended and what it wrote.
struct ProcessResult {
    enum class End {
        Exited,
        Signalled,  ///< by another process
        TimedOut,
        Stopped,         ///< by the stop token
        OutputTooLarge,  ///< it wrote more than output_bytes_max to stdout
        Lost,            ///< other code took its exit status (SIGCHLD ignored, or a foreign wait)
    };

    End end = End::Exited;
    int exit_code = 0;   ///< of Exited
    int signal = 0;      ///< that ended it; 0 if there was none
    std::string output;  ///< stdout; its first output_bytes_max bytes
    HeadAndTail errors;  ///< stderr, at most errors_bytes_max of it
};

/// The program could not be started; nothing of it has run. `what()` is a whole sentence.
class ProcessNotStarted : public std::runtime_error {
 public:
    using std::runtime_error::runtime_error;
};

/// How long output of processes that a program has left behind is still read. Then they are killed.
inline constexpr Duration kLingerMax = std::chrono::seconds(1);

/// Runs a program to its end in a process group of its own. A timeout, a stop or too much output
/// sends SIGTERM to the whole group, and SIGKILL after `grace`. What the program has left in its
/// group is killed when it ends. A process that has left the group (setsid) is not followed.
/// If this process itself is killed, the program gets SIGKILL, but not its children.
///
/// The child inherits no file descriptor but its stdin, stdout and stderr, no signal mask and no
/// ignored signal. No zombie is left. A stop that was requested before starts nothing. Safe to call
/// from many threads at once. Throws ProcessNotStarted.
ProcessResult run_process(const ProcessRequest& request);

}  // namespace ebb
