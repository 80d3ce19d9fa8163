#include "store/postgres/pooled.h"

#include <algorithm>
#include <string>

#include <ebb/error.h>

#include "store/postgres/sql_error.h"

namespace ebb::postgres {

namespace {

/// How often a verb is tried again after it has lost a race.
constexpr int kRaceTriesMax = 12;
/// And after it has waited for a lock until the server's lock_timeout. A commit is not: it can go
/// on without the instance that is locked.
constexpr int kLockTriesMax = 2;
constexpr Duration kRacePauseMin = std::chrono::milliseconds(1);
constexpr Duration kRacePauseMax = std::chrono::milliseconds(200);
/// How often a verb is tried again after its connection broke: once on each of the old ones that a
/// restarted server has left behind would be too often, so the second is a new one.
constexpr int kLossTriesMax = 3;

}  // namespace

void Pooled::recover(Pool::Lease& connection, Repeat repeat, int tries) {
    try {
        throw;
    } catch (const SqlError& error) {
        if (error.is_of_session()) {
            connection.drop();
            pool_.drop_idle();
            // If the URL names several servers, another one may have taken over.
            const bool has_choice = settings_.parameters.contains("target_session_attrs");
            if (!error.is_read_only() || !has_choice || tries > 1) throw;
            return;
        }
        const bool is_worth_it = error.is_lost_race() || error.is_stale_plan();
        // That it has waited for long already does not mean that it may wait forever.
        const int tries_max = error.is_lock_timeout() ? kLockTriesMax : kRaceTriesMax;
        if (!is_worth_it || tries > tries_max) throw;
        if (error.is_lock_timeout() && repeat == Repeat::IsInDoubt) throw;
        if (error.is_stale_plan()) {
            connection.drop();
            return;
        }
        const Duration pause = kRacePauseMin * (1 << std::min(tries, 8));
        pool_.wait_a_little(std::min(pause, kRacePauseMax));
    } catch (const ConnectionLost& error) {
        connection.drop();
        on_loss();
        if (repeat == Repeat::IsInDoubt) {
            throw Error(
                ErrorCode::StoreInDoubt,
                std::string(error.what()) +
                    " It is not known whether the commit took effect; repeat it."
            );
        }
        if (tries > kLossTriesMax) throw;
    } catch (...) {
        // Whatever it was, its answer may not have been read to the end.
        connection.drop();
        throw;
    }
}

}  // namespace ebb::postgres
