#pragma once

#include "support/sync.h"

// A role is the right to do something that one thread at a time may have. The annotations let
// clang's -Wthread-safety check that only the thread with the role touches what belongs to it. They
// cost nothing at run time: how a thread gets the role is a matter of the function that gives it.

/// On a function: the caller has the role, and no longer has it afterwards.
#define EBB_RELEASE(...) EBB_THREAD_ANNOTATION(release_capability(__VA_ARGS__))
/// On a function: the caller has the role afterwards if the function returns `success`. Together
/// with EBB_RELEASE: the function gives up the role, and the caller gets it back in that case.
#define EBB_TRY_ACQUIRE(success, ...) \
    EBB_THREAD_ANNOTATION(try_acquire_capability(success, __VA_ARGS__))

namespace ebb {

/// Names a role for the analysis.
class EBB_THREAD_ANNOTATION(capability("role")) Role {
 public:
    /// Called by the function that gives the role up.
    void end() const EBB_RELEASE() {}
};

}  // namespace ebb
