#include "postgres_yardstick.h"

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include <fmt/format.h>

#include "support/os_file.h"

namespace ebb::bench {

namespace {

const std::filesystem::path kScripts(EBB_BENCH_DIR);

std::string output_of(const std::string& command) {
    FILE* pipe = popen(command.c_str(), "r");
    if (pipe == nullptr) throw std::runtime_error("popen failed");
    std::string text;
    char part[4'096];
    while (fgets(part, sizeof part, pipe) != nullptr) text += part;
    if (pclose(pipe) != 0) throw std::runtime_error(command + " failed: " + text);
    return text;
}

/// Of pgbench's log: client, number, microseconds, ...
void read_latencies(const std::filesystem::path& folder, std::vector<double>& latencies_ms) {
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
        std::ifstream file(entry.path());
        for (std::string line; std::getline(file, line);) {
            std::istringstream fields(line);
            long client = 0;
            long number = 0;
            double microseconds = 0;
            if (fields >> client >> number >> microseconds) {
                latencies_ms.push_back(microseconds / 1e3);
            }
        }
    }
}

void make_tables(const testing::PostgresServer& server) {
    if (server.execute("SELECT 1 FROM pg_database WHERE datname = 'yardstick'").empty()) {
        server.execute("CREATE DATABASE yardstick");
    }
    output_of(fmt::format(
        "'{}' -q -X -v ON_ERROR_STOP=1 -f '{}' '{}' 2>&1",
        testing::PostgresServer::program("psql").string(),
        (kScripts / "minimal_step_tables.sql").string(),
        server.url("yardstick")
    ));
}

}  // namespace

std::string run_pgbench(
    const testing::PostgresServer& server, const std::string& database, const std::string& options
) {
    return output_of(fmt::format(
        "'{}' {} '{}' 2>&1",
        testing::PostgresServer::program("pgbench").string(),
        options,
        server.url(database)
    ));
}

MinimalSteps measure_minimal_steps(
    const testing::PostgresServer& server, const MinimalStepRun& run
) {
    make_tables(server);
    const TempDirectory logs;
    const std::string log =
        run.with_latencies ? fmt::format("--log --log-prefix='{}/pgbench'", logs.path().string())
                           : "";
    const std::string text = output_of(fmt::format(
        "'{}' -n -M prepared -c {} -j {} -T {} -f '{}' {} '{}' 2>&1",
        testing::PostgresServer::program("pgbench").string(),
        run.clients,
        run.clients,
        run.seconds,
        (kScripts / run.script).string(),
        log,
        server.url("yardstick")
    ));
    const std::size_t at = text.find("tps = ");
    if (at == std::string::npos) throw std::runtime_error("pgbench said: " + text);
    MinimalSteps measured{
        .steps_per_second = std::stod(text.substr(at + 6)) * run.steps_per_statement,
        .latencies_ms = {}
    };
    if (run.with_latencies) read_latencies(logs.path(), measured.latencies_ms);
    return measured;
}

}  // namespace ebb::bench
