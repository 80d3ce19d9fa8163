#pragma once

#include <ebb/clock.h>

namespace ebb::test {

/// The clock of one machine whose date is wrong by `error`, which a test changes to set
/// that clock. It measures time as the others do.
class SkewedClock : public Clock {
 public:
    explicit SkewedClock(const Clock& truth) : truth_(truth) {}

    TimePoint now() const override { return truth_.now() + error; }

    SteadyPoint steady_now() const override { return truth_.steady_now(); }

    const Clock& source() const override { return truth_.source(); }

    Duration error{0};

 private:
    const Clock& truth_;
};

}  // namespace ebb::test
