#pragma once

#include <atomic>

#include "engine/attempt.h"
#include "engine/committer.h"
#include "engine/environment.h"
#include "engine/pace.h"
#include "engine/watchdog.h"

namespace ebb::engine {

/// Makes the calls: runs an attempt in the calling thread and posts what came of it. Thread-safe.
class Executor {
 public:
    Executor(Environment& environment, Committer& committer, Watchdog& watchdog, Pace& pace)
        : environment_(environment), committer_(committer), watchdog_(watchdog), pace_(pace) {}

    enum class Ending {
        Posted,     ///< its outcome was posted; it was called
        NotCalled,  ///< it had been withdrawn, or could not be begun
        GivenUp,    ///< it took so long that it was given up: nothing to post any more
    };

    /// begin and end.
    Ending run(const AttemptPtr& attempt);

    /// The call counts as running from here on, and its time as well. False: it is not to be made.
    bool begin(const AttemptPtr& attempt);
    /// Calls the handler of an attempt that has begun, and posts what came of it.
    Ending end(const AttemptPtr& attempt);

    /// Calls in progress, without those that were given up.
    int running() const { return running_; }

    /// Where calls are quick, gives those of other threads the moment that they need to share the
    /// next commit.
    void let_others_finish() const;

    /// To be told by the watchdog.
    void on_given_up(const AttemptPtr& attempt);

 private:
    static constexpr int kLooks = 200;  // of some 40 ns: a wait costs less than a commit of one

    Item call(const AttemptPtr& attempt);
    void put_back(const AttemptPtr& attempt);

    Environment& environment_;
    Committer& committer_;
    Watchdog& watchdog_;
    Pace& pace_;
    std::atomic<int> running_{0};
};

}  // namespace ebb::engine
