#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace ebb::test {

/// A seeded stream of choices, the same on every platform (SplitMix64).
class Dice {
 public:
    explicit Dice(std::uint64_t seed) : state_(seed) {}

    /// A stream of its own for the `number`-th of something, whatever the others have used.
    Dice(std::uint64_t seed, std::uint64_t number)
        : state_(seed ^ (number * 0xD1342543DE82EF95ULL)) {
        state_ = next();
    }

    std::uint64_t next() {
        state_ += 0x9E3779B97F4A7C15ULL;
        std::uint64_t value = state_;
        value = (value ^ (value >> 30)) * 0xBF58476D1CE4E5B9ULL;
        value = (value ^ (value >> 27)) * 0x94D049BB133111EBULL;
        return value ^ (value >> 31);
    }

    /// 0 .. n-1.
    int below(int n) { return static_cast<int>(next() % static_cast<std::uint64_t>(n)); }

    int between(int least, int most) { return least + below(most - least + 1); }

    bool chance(int percent) { return below(100) < percent; }

    template <class T>
    const T& pick(const std::vector<T>& values) {
        return values[static_cast<std::size_t>(next() % values.size())];
    }

 private:
    std::uint64_t state_;
};

}  // namespace ebb::test
