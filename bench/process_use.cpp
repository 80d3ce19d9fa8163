#include "process_use.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include <fmt/format.h>
#include <unistd.h>

namespace ebb::bench {

double cpu_seconds_of(pid_t pid) {
    std::ifstream file(fmt::format("/proc/{}/stat", pid));
    std::string line;
    std::getline(file, line);
    // The name in brackets may have blanks.
    std::istringstream fields(line.substr(std::min(line.size(), line.rfind(')') + 1)));
    std::string skipped;
    for (int i = 0; i < 11; ++i) fields >> skipped;
    double ticks = 0;
    for (int i = 0; i < 4; ++i) {
        double more = 0;
        if (fields >> more) ticks += more;
    }
    return ticks / static_cast<double>(sysconf(_SC_CLK_TCK));
}

double running_seconds_of(pid_t pid) {
    double nanoseconds = 0;
    for (const auto& task :
         std::filesystem::directory_iterator(fmt::format("/proc/{}/task", pid))) {
        std::ifstream file(task.path() / "schedstat");
        double own = 0;
        if (file >> own) nanoseconds += own;
    }
    return nanoseconds / 1e9;
}

double resident_bytes_of(pid_t pid) {
    std::ifstream file(fmt::format("/proc/{}/statm", pid));
    double pages = 0;
    double resident = 0;
    file >> pages >> resident;
    return resident * static_cast<double>(sysconf(_SC_PAGESIZE));
}

}  // namespace ebb::bench
