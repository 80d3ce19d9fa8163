#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <ebb/store.h>

#include "report.h"
#include "server_process.h"
#include "support/postgres_server.h"

// What the figures of `ebb serve` share.

namespace ebb::bench {

enum class Database { Sqlite, Postgres };

std::string_view to_string(Database database);

/// What all figures of a run share.
class ServerBench {
 public:
    explicit ServerBench(const ServerAsked& asked) : asked_(asked) {}

    /// How long one measurement lasts.
    double seconds() const { return asked_.seconds; }

    bool is_asked(std::string_view name) const {
        return asked_.only.empty() || asked_.only == name;
    }

    /// Started when it is first asked for.
    const testing::PostgresServer& postgres();

 private:
    ServerAsked asked_;
    std::unique_ptr<testing::PostgresServer> postgres_;
};

/// A database of its own, which goes with this object. The workflow of three steps is in it.
class ServedStore {
 public:
    ServedStore(ServerBench& bench, Database database);
    ServedStore(const ServedStore&) = delete;
    ServedStore& operator=(const ServedStore&) = delete;
    ~ServedStore();

    StorePtr open() const;

    /// `ebb serve` with it, on a free port, without a limit of requests.
    std::vector<std::string> serve(std::vector<std::string> more = {"--no-auth", "--no-worker"})
        const;

    /// Runs statements. `{0}` stands for the prefix of tables.
    void execute(const std::string& sql) const;

    const std::string& folder() const { return folder_; }

 private:
    std::string url() const;

    const testing::PostgresServer* postgres_ = nullptr;
    std::string schema_;
    std::string folder_;
};

/// The value of a figure has to be at least `goal` times the yardstick's. The medians count.
struct Beside {
    std::string_view name;
    std::string_view unit;
    double goal = 0;
    std::string_view yardstick;
};

Figure beside(
    const Beside& about, const std::vector<double>& values, const std::vector<double>& yardsticks
);

/// The value has to be at most `limit`. Of several runs, the median counts.
struct Limited {
    std::string_view name;
    std::string_view unit;
    double limit = 0;
    std::string_view note;
};

Figure at_most(const Limited& about, const std::vector<double>& runs);

struct WrkResult {
    double per_second = 0;
    double p50_ms = 0;
    double p99_ms = 0;
};

struct WrkLoad {
    int port = 0;
    std::string path;
    double seconds = 3;
    std::vector<std::string> headers{};
    std::string script{};  ///< Lua
};

/// 64 connections of wrk. Throws std::runtime_error if a request fails.
WrkResult run_wrk(const WrkLoad& load);

/// Calls `act` from `threads` threads, as often as goes; calls per second. `act` gets the number of
/// its thread.
double calls_per_second(int threads, double seconds, const std::function<void(int)>& act);

/// Milliseconds of each call of `act`.
double took_ms(const std::function<void()>& act);

using ServerFigures = std::vector<Figure> (*)(ServerBench&);

std::vector<Figure> livez_figures(ServerBench& bench);
std::vector<Figure> me_figures(ServerBench& bench);
std::vector<Figure> not_modified_figures(ServerBench& bench);
std::vector<Figure> get_figures(ServerBench& bench);
std::vector<Figure> start_figures(ServerBench& bench);
std::vector<Figure> start_sqlite_figures(ServerBench& bench);
std::vector<Figure> batch_figures(ServerBench& bench);
std::vector<Figure> batch_sqlite_figures(ServerBench& bench);
std::vector<Figure> remote_steps_figures(ServerBench& bench);
std::vector<Figure> remote_hop_figures(ServerBench& bench);
std::vector<Figure> fan_out_figures(ServerBench& bench);
std::vector<Figure> idle_connection_figures(ServerBench& bench);
std::vector<Figure> stream_latency_figures(ServerBench& bench);
std::vector<Figure> beside_ui_figures(ServerBench& bench);
std::vector<Figure> list_figures(ServerBench& bench);
std::vector<Figure> list_sqlite_figures(ServerBench& bench);
std::vector<Figure> bulk_figures(ServerBench& bench);
std::vector<Figure> validate_figures(ServerBench& bench);
std::vector<Figure> webhook_figures(ServerBench& bench);
std::vector<Figure> metrics_figures(ServerBench& bench);
std::vector<Figure> ready_figures(ServerBench& bench);
std::vector<Figure> restart_figures(ServerBench& bench);
std::vector<Figure> idle_figures(ServerBench& bench);

}  // namespace ebb::bench
