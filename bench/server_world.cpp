// What the figures of `ebb serve` share: databases, the load of wrk, and how a figure is judged.

#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <thread>

#include <fmt/format.h>
#include <sqlite3.h>

#include <ebb/engine.h>

#include "crew.h"
#include "postgres_scratch.h"
#include "server_figures.h"
#include "three_steps.h"

namespace ebb::bench {

namespace {

using SteadyClock = std::chrono::steady_clock;

double seconds_since(SteadyClock::time_point start) {
    return std::chrono::duration<double>(SteadyClock::now() - start).count();
}

/// On the disk where the build is: in memory every commit would be free.
std::string new_folder() {
    std::string name = (std::filesystem::current_path() / "ebb-bench-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("no folder for a database");
    return name;
}

void execute_sqlite(const std::string& path, const std::string& sql) {
    sqlite3* db = nullptr;
    char* message = nullptr;
    sqlite3_open(path.c_str(), &db);
    const int code = sqlite3_exec(db, sql.c_str(), nullptr, nullptr, &message);
    const std::string why = message != nullptr ? message : "";
    sqlite3_free(message);
    sqlite3_close(db);
    if (code != SQLITE_OK) throw std::runtime_error("SQLite: " + why);
}

std::string output_of(const std::string& command) {
    FILE* pipe = ::popen(command.c_str(), "r");
    if (pipe == nullptr) throw std::runtime_error("cannot run " + command);
    std::string text;
    for (char bytes[4'096]; std::size_t count = std::fread(bytes, 1, sizeof(bytes), pipe);) {
        text.append(bytes, count);
    }
    if (::pclose(pipe) != 0) throw std::runtime_error(command + " failed: " + text);
    return text;
}

/// The word after `name`; empty if there is none.
std::string word_after(const std::string& text, const std::string& name) {
    const std::size_t at = text.find(name);
    if (at == std::string::npos) return {};
    const std::size_t begin = text.find_first_not_of(' ', at + name.size());
    return text.substr(begin, text.find_first_of(" \n", begin) - begin);
}

/// `1.23ms`, `450.00us`, `1.20s`
double milliseconds(const std::string& text) {
    const double number = std::atof(text.c_str());
    if (text.ends_with("us")) return number / 1e3;
    if (text.ends_with("ms")) return number;
    return number * 1e3;
}

}  // namespace

std::string_view to_string(Database database) {
    return database == Database::Sqlite ? "SQLite" : "PostgreSQL";
}

const testing::PostgresServer& ServerBench::postgres() {
    if (!postgres_) {
        // It cannot be moved, so it is made in its place.
        postgres_.reset(new testing::PostgresServer(make_bench_server()));
    }
    return *postgres_;
}

ServedStore::ServedStore(ServerBench& bench, Database database)
    : postgres_(database == Database::Postgres ? &bench.postgres() : nullptr),
      schema_(postgres_ != nullptr ? testing::fresh_schema() : std::string()),
      folder_(new_folder()) {
    const StorePtr store = open();
    const HandlerRegistry none;
    Engine(*store, none).register_workflow(three_steps());
}

ServedStore::~ServedStore() {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
    if (postgres_ == nullptr) return;
    try {
        postgres_->execute(fmt::format(
            "SET client_min_messages = error; DROP SCHEMA IF EXISTS {} CASCADE", schema_
        ));
    } catch (const std::exception& error) {
        std::fprintf(stderr, "ebb_bench: %s\n", error.what());
    }
}

StorePtr ServedStore::open() const {
    if (postgres_ == nullptr) return open_sqlite_store({.path = folder_ + "/ebb.db"});
    return open_postgres_store({.url = postgres_->url(), .schema = schema_});
}

std::string ServedStore::url() const {
    if (postgres_ == nullptr) return "sqlite:" + folder_ + "/ebb.db";
    return fmt::format("{}&schema={}", postgres_->url(), schema_);
}

std::vector<std::string> ServedStore::serve(std::vector<std::string> more) const {
    std::vector<std::string> command{
        EBB_COMMAND_FILE, "serve", "--db", url(), "--json", "--login-link", "-q"
    };
    if (std::find(more.begin(), more.end(), "--listen") == more.end()) {
        command.insert(command.end(), {"--listen", "127.0.0.1:0"});
    }
    command.insert(command.end(), {"--requests-per-second", "0", "--max-connections", "12000"});
    command.insert(command.end(), more.begin(), more.end());
    return command;
}

void ServedStore::execute(const std::string& sql) const {
    const std::string prefix = postgres_ != nullptr ? schema_ + "." : std::string();
    const std::string text = fmt::format(fmt::runtime(sql), prefix);
    if (postgres_ != nullptr) {
        postgres_->execute(text);
    } else {
        execute_sqlite(folder_ + "/ebb.db", text);
    }
}

Figure beside(
    const Beside& about, const std::vector<double>& values, const std::vector<double>& yardsticks
) {
    std::vector<double> ratios;
    for (std::size_t i = 0; i < values.size(); ++i) ratios.push_back(values[i] / yardsticks[i]);
    Figure figure{
        .name = std::string(about.name),
        .value = median(values),
        .unit = std::string(about.unit),
        .yardstick = fmt::format("{}: {:.0f} {}", about.yardstick, median(yardsticks), about.unit),
        .ratio = median(ratios),
        .goal = about.goal,
        .runs = values,
        .note = {}
    };
    figure.verdict = figure.ratio >= figure.goal ? "met" : "missed";
    return figure;
}

Figure at_most(const Limited& about, const std::vector<double>& runs) {
    Figure figure{
        .name = std::string(about.name),
        .value = median(runs),
        .unit = std::string(about.unit),
        .yardstick = fmt::format("at most {:g} {}", about.limit, about.unit),
        .ratio = 0,
        .goal = 1,
        .runs = runs,
        .note = about.note.empty() ? "lower is better" : std::string(about.note)
    };
    // Of what must not happen at all, the limit is 0.
    figure.ratio = about.limit > 0 ? figure.value / about.limit : figure.value + 1;
    figure.verdict = figure.value <= about.limit ? "met" : "missed";
    return figure;
}

WrkResult run_wrk(const WrkLoad& load) {
    const int seconds = std::max(1, static_cast<int>(std::lround(load.seconds)));
    std::string command = fmt::format("wrk -t2 -c64 -d{}s --latency", seconds);
    for (const std::string& header : load.headers) command += fmt::format(" -H '{}'", header);
    const std::string script = new_folder();
    if (!load.script.empty()) {
        std::ofstream(script + "/load.lua") << load.script;
        command += " -s " + script + "/load.lua";
    }
    command += fmt::format(" 'http://127.0.0.1:{}{}'", load.port, load.path);
    const std::string text = output_of(command);
    std::filesystem::remove_all(script);
    const bool has_failed = text.find("Non-2xx") != std::string::npos ||
                            text.find("Socket errors") != std::string::npos;
    // A 304 is neither of both.
    if (has_failed) throw std::runtime_error("requests have failed: " + text);
    return {
        .per_second = std::atof(word_after(text, "Requests/sec:").c_str()),
        .p50_ms = milliseconds(word_after(text, "50%")),
        .p99_ms = milliseconds(word_after(text, "99%")),
    };
}

double calls_per_second(int threads, double seconds, const std::function<void(int)>& act) {
    std::atomic<std::int64_t> calls{0};
    std::atomic<bool> is_over{false};
    const auto start = SteadyClock::now();
    {
        Crew callers(is_over);
        for (int i = 0; i < threads; ++i) {
            callers.add([&, i] {
                while (!is_over) {
                    act(i);
                    ++calls;
                }
            });
        }
        std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
        callers.end();
    }
    return static_cast<double>(calls) / seconds_since(start);
}

double took_ms(const std::function<void()>& act) {
    const auto start = SteadyClock::now();
    act();
    return 1e3 * seconds_since(start);
}

}  // namespace ebb::bench
