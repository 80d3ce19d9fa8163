#include <algorithm>
#include <fstream>
#include <sstream>
#include <string>

#include <dirent.h>
#include <sys/resource.h>
#include <unistd.h>

#include "plugins/metrics/store_gauges.h"

namespace ebb::metrics {

namespace {

/// The numbers of /proc/self/stat behind the name of the program; see proc(5).
std::vector<double> read_stat() {
    std::ifstream file("/proc/self/stat");
    std::string text;
    std::getline(file, text);
    const std::size_t name_end = text.rfind(')');
    if (name_end == std::string::npos) return {};
    std::istringstream fields(text.substr(name_end + 1));
    std::string state;
    fields >> state;
    std::vector<double> numbers;
    for (double number = 0; fields >> number;) numbers.push_back(number);
    return numbers;
}

/// When the machine was started, in seconds since 1970.
double boot_time() {
    std::ifstream file("/proc/stat");
    for (std::string line; std::getline(file, line);) {
        if (line.starts_with("btime ")) return std::stod(line.substr(6));
    }
    return 0;
}

double count_descriptors() {
    DIR* folder = opendir("/proc/self/fd");
    if (folder == nullptr) return 0;
    double count = 0;
    while (const dirent* entry = readdir(folder)) {
        if (entry->d_name[0] != '.') ++count;
    }
    closedir(folder);
    return count - 1;  // that of the folder itself
}

Metric single(const char* name, const char* help, Metric::Kind kind, double value) {
    return {.name = name, .help = help, .kind = kind, .values = {{.value = value}}};
}

}  // namespace

std::vector<Metric> process_metrics() {
    // Places in the list of read_stat: of proc(5), less 4.
    constexpr std::size_t kUserTime = 10;
    constexpr std::size_t kSystemTime = 11;
    constexpr std::size_t kThreads = 16;
    constexpr std::size_t kStartTime = 18;
    constexpr std::size_t kVirtual = 19;
    constexpr std::size_t kResident = 20;
    const std::vector<double> stat = read_stat();
    if (stat.size() <= kResident) return {};
    const auto ticks = static_cast<double>(sysconf(_SC_CLK_TCK));
    const auto page = static_cast<double>(sysconf(_SC_PAGESIZE));
    rlimit files{};
    getrlimit(RLIMIT_NOFILE, &files);
    static const double booted = boot_time();
    using Kind = Metric::Kind;
    return {
        single(
            "process_cpu_seconds_total",
            "CPU time of this process.",
            Kind::Counter,
            (stat[kUserTime] + stat[kSystemTime]) / ticks
        ),
        single(
            "process_start_time_seconds",
            "When this process was started, in seconds since 1970.",
            Kind::Gauge,
            booted + stat[kStartTime] / ticks
        ),
        single("process_virtual_memory_bytes", "Virtual memory.", Kind::Gauge, stat[kVirtual]),
        single(
            "process_resident_memory_bytes", "Resident memory.", Kind::Gauge, stat[kResident] * page
        ),
        single("process_threads", "Threads of this process.", Kind::Gauge, stat[kThreads]),
        single("process_open_fds", "Open file descriptors.", Kind::Gauge, count_descriptors()),
        single(
            "process_max_fds",
            "How many file descriptors may be open.",
            Kind::Gauge,
            static_cast<double>(files.rlim_cur)
        ),
    };
}

}  // namespace ebb::metrics
