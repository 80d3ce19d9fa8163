#include "support/uuid.h"

#include <algorithm>
#include <atomic>
#include <optional>
#include <random>

#include <pthread.h>

namespace ebb {

namespace {

/// What a thread's numbers come from while a PredictableIds lives.
struct Predictable {
    std::mt19937_64 engine;
    std::uint64_t last_stamp = 0;
};

std::optional<Predictable>& predictable() {
    thread_local std::optional<Predictable> value;
    return value;
}

/// How many forks lie between this process and the one that first asked for random numbers.
std::atomic<unsigned>& forks() {
    static std::atomic<unsigned> value{0};
    return value;
}

/// A thread's numbers between two forks.
struct Seeded {
    std::mt19937_64 engine;
    unsigned forks;
};

Seeded make_seeded() {
    static const int is_watching = pthread_atfork(nullptr, nullptr, [] { ++forks(); });
    static_cast<void>(is_watching);
    std::random_device device;
    std::seed_seq seed{device(), device(), device(), device(), device(), device()};
    return {std::mt19937_64(seed), forks()};
}

}  // namespace

PredictableIds::PredictableIds(std::uint64_t seed) {
    predictable() = Predictable{.engine = std::mt19937_64(seed)};
}

PredictableIds::~PredictableIds() {
    predictable().reset();
}

std::uint64_t random_bits() {
    if (predictable()) return predictable()->engine();
    // getrandom() through libstdc++; one seed per thread, because a system call per id would cost
    // more than the id. A forked process that went on with its parent's numbers would make the ids
    // that its siblings make.
    thread_local Seeded seeded = make_seeded();
    if (seeded.forks != forks().load(std::memory_order_relaxed)) seeded = make_seeded();
    return seeded.engine();
}

InstanceId lowest_id_of(TimePoint time) {
    const auto since_epoch =
        std::chrono::floor<std::chrono::milliseconds>(time.time_since_epoch()).count();
    const auto millis = static_cast<std::uint64_t>(std::max<long>(0, since_epoch));
    InstanceId id;
    for (std::size_t i = 0; i < 6; ++i) {
        id.bytes[i] = static_cast<std::uint8_t>(millis >> (40 - 8 * i));
    }
    return id;
}

InstanceId next_id(const InstanceId& id) {
    InstanceId next = id;
    for (auto byte = next.bytes.rbegin(); byte != next.bytes.rend(); ++byte) {
        if (++*byte != 0) return next;
    }
    return id;
}

namespace {

/// The next stamp after `last`: the time in milliseconds, and behind it 12 bits that count within
/// one.
std::uint64_t next_stamp(std::uint64_t last, TimePoint now) {
    const auto since_epoch =
        std::chrono::floor<std::chrono::milliseconds>(now.time_since_epoch()).count();
    const auto millis = static_cast<std::uint64_t>(std::max<long>(0, since_epoch));
    return std::max(last + 1, millis << 12);
}

std::uint64_t take_stamp(std::atomic<std::uint64_t>& last, TimePoint now) {
    std::uint64_t before = last.load(std::memory_order_relaxed);
    std::uint64_t stamp = next_stamp(before, now);
    while (!last.compare_exchange_weak(before, stamp, std::memory_order_relaxed)) {
        stamp = next_stamp(before, now);
    }
    return stamp;
}

}  // namespace

InstanceId make_instance_id(const Clock& clock) {
    return make_instance_id(clock, clock.now());
}

InstanceId make_instance_id(const Clock& clock, TimePoint now) {
    std::uint64_t stamp = 0;
    if (auto& fixed = predictable()) {
        stamp = fixed->last_stamp = next_stamp(fixed->last_stamp, now);
    } else {
        stamp = take_stamp(clock.source().id_stamp().last, now);
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
