#pragma once

#include <sys/types.h>

#include "support/os_file.h"
#include "support/os_process.h"

namespace ebb {

/// A running child, leader of its own process group. Its owner must reap it.
struct Child {
    pid_t pid = -1;
    FileDescriptor handle;  ///< a pidfd: readable once the child has exited; not open if its
                            ///< status was already taken
    FileDescriptor output;  ///< its stdout; does not block
    FileDescriptor errors;  ///< its stderr; does not block
};

/// A pidfd of a running process or a zombie; readable once the process has exited. If it is not
/// available, not open, with errno set.
FileDescriptor open_process(pid_t pid);

/// The child is killed when the calling thread ends, and so also when the whole process is killed;
/// its own children are not. Throws ProcessNotStarted.
Child spawn(const ProcessRequest& request);

}  // namespace ebb
