#include "support/core_dumps.h"

#include <sys/prctl.h>
#include <sys/resource.h>

namespace ebb {

void forbid_core_dumps() noexcept {
    // Each of them suffices. If one fails, nothing is worse than before.
    prctl(PR_SET_DUMPABLE, 0L, 0L, 0L, 0L);
    rlimit limit{};
    if (getrlimit(RLIMIT_CORE, &limit) != 0) return;
    limit.rlim_cur = 0;
    setrlimit(RLIMIT_CORE, &limit);
}

}  // namespace ebb
