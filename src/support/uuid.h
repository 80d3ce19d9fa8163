#pragma once

#include <cstdint>

#include <ebb/clock.h>
#include <ebb/id.h>
#include <ebb/time.h>

namespace ebb {

/// Makes ids of version 7. Those of one clock (Clock::source) rise strictly, also inside one
/// millisecond (RFC 9562, 6.2 method 1) and if the clock is set back. Thread-safe.
InstanceId make_instance_id(const Clock& clock);
/// The same for a date that was read from the clock before.
InstanceId make_instance_id(const Clock& clock, TimePoint now);

/// No id that was made at `time` or later is below it; all that were made in an earlier millisecond
/// are.
InstanceId lowest_id_of(TimePoint time);

/// The id that follows. The highest one has none and is returned itself.
InstanceId next_id(const InstanceId& id);

/// 64 random bits, seeded by the operating system in each thread and again after fork().
/// Thread-safe.
std::uint64_t random_bits();

/// While it lives, the random numbers and ids that this thread makes depend on `seed` alone: for
/// simulations, which are repeated. Not nested.
class PredictableIds {
 public:
    explicit PredictableIds(std::uint64_t seed);
    ~PredictableIds();
    PredictableIds(const PredictableIds&) = delete;
    PredictableIds& operator=(const PredictableIds&) = delete;
};

}  // namespace ebb
