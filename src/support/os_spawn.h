#pragma once

#include <sys/types.h>

#include "support/os_file.h"
#include "support/os_process.h"

namespace ebb {

/// A running child, leader of a process group of its own. Whoever has it must reap it.
struct Child {
    pid_t pid = -1;
    FileDescriptor handle;  ///< a pidfd: readable once the child has exited; not open when its
                            ///< status was taken by others
    FileDescriptor output;  ///< its stdout; does not block
    FileDescriptor errors;  ///< its stderr; does not block
};

/// A pidfd of a running process or a zombie; readable once it has exited. Not open, with errno set,
/// when it cannot be had.
FileDescriptor open_process(pid_t pid);

/// The child is killed when the thread that calls this ends, as it does when the whole process is
/// killed; children of the child are not. Throws ProcessNotStarted.
Child spawn(const ProcessRequest& request);

}  // namespace ebb
