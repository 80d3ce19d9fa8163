#include "support/uuid.h"

#include <algorithm>
#include <mutex>
#include <random>

namespace ebb {

std::uint64_t random_bits() {
    // getrandom() through libstdc++; one seed per thread, because a system call per id would cost
    // more than the id.
    thread_local std::mt19937_64 engine = [] {
        std::random_device device;
        std::seed_seq seed{device(), device(), device(), device(), device(), device()};
        return std::mt19937_64(seed);
    }();
    return engine();
}

InstanceId make_instance_id(TimePoint now) {
    // The 12 bits behind the time count within the millisecond, so that ids of one process never go
    // back.
    static std::mutex mutex;
    static std::uint64_t last = 0;
    const auto since_epoch =
        std::chrono::floor<std::chrono::milliseconds>(now.time_since_epoch()).count();
    const auto millis = static_cast<std::uint64_t>(std::max<long>(0, since_epoch));
    std::uint64_t stamp = 0;
    {
        const std::lock_guard lock(mutex);
        last = std::max(last + 1, millis << 12);
        stamp = last;
    }
    const std::uint64_t high = (stamp >> 12 << 16) | 0x7000 | (stamp & 0xFFF);
    const std::uint64_t low = (random_bits() >> 2) | (std::uint64_t{1} << 63);
    InstanceId id;
    for (std::size_t i = 0; i < 8; ++i) {
        id.bytes[i] = static_cast<std::uint8_t>(high >> (56 - 8 * i));
        id.bytes[8 + i] = static_cast<std::uint8_t>(low >> (56 - 8 * i));
    }
    return id;
}

}  // namespace ebb
