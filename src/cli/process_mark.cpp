#include "cli/process_mark.h"

#include <fstream>
#include <iterator>
#include <optional>

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/environment.h"

namespace ebb::cli {

namespace {

std::string read_text(const std::string& path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

/// FNV-1a: every process gets the same result, unlike with std::hash.
std::uint32_t hash_of(const std::string& text) {
    std::uint32_t hash = 2'166'136'261U;
    for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 16'777'619U;
    return hash;
}

/// A process id has a meaning only within one boot and one process namespace; containers may share
/// a host name.
std::string world_mark() {
    struct stat status{};
    const std::string boot = read_text("/proc/sys/kernel/random/boot_id");
    if (boot.empty() || ::stat("/proc/self/ns/pid", &status) != 0) return {};
    return fmt::format("{:08x}", hash_of(fmt::format("{}{}", boot, status.st_ino)));
}

/// When the process began, in ticks since the boot: later processes use an id again. Empty if there
/// is no such process, or if it has ended and its parent has not waited for it yet.
std::optional<std::string> start_of(std::int64_t pid) {
    const std::string stat = read_text(fmt::format("/proc/{}/stat", pid));
    // The name in parentheses may have anything in it.
    const std::size_t name_end = stat.rfind(')');
    if (name_end == std::string::npos) return std::nullopt;
    std::size_t at = name_end + 2;
    if (at < stat.size() && (stat[at] == 'Z' || stat[at] == 'X')) return std::nullopt;
    constexpr int kFieldsBefore = 19;
    for (int field = 0; field < kFieldsBefore; ++field) {
        at = stat.find(' ', at);
        if (at == std::string::npos) return std::nullopt;
        ++at;
    }
    return stat.substr(at, stat.find(' ', at) - at);
}

}  // namespace

std::string process_worker_id() {
    const std::string world = world_mark();
    const auto start = start_of(engine::process_id());
    // Without /proc the engine makes a name of its own.
    if (world.empty() || !start) return {};
    return fmt::format("{}-{}-{}-{}", engine::host_name(), engine::process_id(), world, *start);
}

bool has_died_here(const WorkerRow& worker) {
    const std::string world = world_mark();
    if (world.empty() || worker.host != engine::host_name()) return false;
    const std::string prefix = fmt::format("{}-{}-{}-", worker.host, worker.pid, world);
    if (!worker.id.starts_with(prefix)) return false;
    const auto start = start_of(worker.pid);
    return !start || *start != worker.id.substr(prefix.size());
}

void end_leases_of_dead_processes(Store& store) {
    bool has_found = false;
    for (const WorkerRow& worker : store.workers()) {
        if (!has_died_here(worker)) continue;
        // A heartbeat for no time at all: maintain() finds a worker whose time has run out.
        store.heartbeat(worker, Duration::zero());
        has_found = true;
    }
    if (has_found) store.maintain();
}

}  // namespace ebb::cli
