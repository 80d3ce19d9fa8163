#include "support/boot.h"

#include <array>
#include <fstream>

#include <fmt/format.h>
#include <unistd.h>

#include "support/uuid.h"

namespace ebb {

namespace {

/// Empty if the system does not say.
std::string boot_id() {
    std::ifstream file("/proc/sys/kernel/random/boot_id");
    std::string id;
    std::getline(file, id);
    return id;
}

std::string time_namespace() {
    std::array<char, 64> name{};
    const auto length = readlink("/proc/self/ns/time", name.data(), name.size());
    // A kernel without them has one time for all.
    return length < 0 ? std::string() : std::string(name.data(), static_cast<std::size_t>(length));
}

const std::string& this_process() {
    static const std::string name = fmt::format("process {} {:016x}", getpid(), random_bits());
    return name;
}

}  // namespace

std::string frame_of(const Clock& clock) {
    const Clock& source = clock.source();
    if (&source != &SystemClock().source()) {
        return fmt::format("{} {}", this_process(), static_cast<const void*>(&source));
    }
    static const std::string boot = boot_id();
    return boot.empty() ? this_process() : boot + " " + time_namespace();
}

}  // namespace ebb
