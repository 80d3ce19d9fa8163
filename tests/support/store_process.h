#pragma once

#include <cstdlib>
#include <vector>

#include <sys/wait.h>
#include <unistd.h>

namespace ebb::testing {

/// Runs `work` in a child process; it reports by its return value (an exit code). The parent must
/// not hold a SQLite connection that the child would use.
template <class Work>
pid_t fork_process(Work work) {
    const pid_t pid = fork();
    if (pid != 0) return pid;
    int code = 99;
    try {
        code = work();
    } catch (...) {
        code = 98;
    }
    _exit(code);
}

/// Waits for the child; its exit code, or 128 + the signal that killed it.
inline int wait_for(pid_t pid) {
    int status = 0;
    if (waitpid(pid, &status, 0) != pid) return -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace ebb::testing
