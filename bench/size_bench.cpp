// What Ebb weighs: the binary of a minimal embedded program, and the memory of a worker that has
// 100,000 waiting instances.

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <unistd.h>

#include <ebb/ebb.h>

#include "report.h"
#include "support/uuid.h"

namespace ebb::bench {

namespace {

double resident_mib() {
    std::ifstream file("/proc/self/statm");
    long pages = 0;
    long resident = 0;
    file >> pages >> resident;
    return static_cast<double>(resident * sysconf(_SC_PAGESIZE)) / (1 << 20);
}

Figure waiting_figure() {
    const auto path =
        std::filesystem::current_path() / fmt::format("ebb-bench-{:x}.db", random_bits());
    double memory = 0;
    {
        const StorePtr store = open_sqlite_store({.path = path.string()});
        HandlerRegistry handlers;
        Engine engine(*store, handlers);
        engine.register_workflow(WorkflowBuilder("waiting").decision("approve").build());
        const std::vector<Payload> batch(1'000, "{}");
        for (int i = 0; i < 100; ++i) engine.start_all("waiting", batch);
        engine.run();
        engine.drain(std::chrono::seconds(5));
        memory = resident_mib();
    }
    for (const char* suffix : {"", "-wal", "-shm", "-hints"}) {
        std::filesystem::remove(path.string() + suffix);
    }
    return {
        .name = "worker_memory_100000_waiting",
        .value = memory,
        .unit = "MiB",
        .runs = {memory},
        .note = "resident, SQLite, the whole process that started them"
    };
}

Figure binary_figure() {
    const auto program = std::filesystem::canonical("/proc/self/exe").parent_path() / "minimal";
    std::error_code error;
    const auto bytes = std::filesystem::file_size(program, error);
    const double mib = error ? 0 : static_cast<double>(bytes) / (1 << 20);
    return {
        .name = "minimal_binary",
        .value = mib,
        .unit = "MiB",
        .runs = {mib},
        .note = "examples/hello, stripped, C++ library shared"
    };
}

}  // namespace

std::vector<Figure> size_figures() {
    return {binary_figure(), waiting_figure()};
}

}  // namespace ebb::bench
