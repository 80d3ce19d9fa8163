#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include <ebb/engine.h>

// The workflow of most throughput figures: three no-op steps, driven in two ways.

namespace ebb::bench {

/// Processor time of this process, user's and system's.
double cpu_seconds();

HandlerRegistry three_no_op_handlers();
Definition three_steps();

/// One workflow after another, from start() to its result. Milliseconds of each. The handlers of
/// `definition` are those of three_no_op_handlers().
std::vector<double> run_one_at_a_time(
    Store& store, double seconds, const Definition& definition = three_steps()
);

/// The workflows of one run. It may lie in memory that several processes share, whose workers then
/// end each other's workflows.
struct Progress {
    std::atomic<std::int64_t> started{0};
    std::atomic<std::int64_t> ended{0};
};

/// What a saturated run starts.
struct Load {
    Definition definition = three_steps();
    HandlerRegistry handlers = three_no_op_handlers();
    Payload input = Payload::text("{}");
    int steps = 3;  ///< of one workflow
    int in_flight_max = EngineOptions().in_flight_max;
};

struct Saturation {
    double seconds = 5;
    std::int64_t workflows = 0;  ///< not 0: so many, however long it takes
    int window = 2'048;          ///< instances in flight; the next are started when some have ended
    int batch = 256;             ///< started with one call
    bool is_claimed = false;     ///< started by an engine that runs nothing: the worker claims all
};

struct Saturated {
    std::int64_t workflows = 0;  ///< of all who share the progress; every one has completed
    int steps_each = 3;
    double seconds = 0;
    double client_cpu_seconds = 0;  ///< of this process
    double resident_mib = 0;        ///< of this process, under load
    int threads = 0;                ///< of this process, under load

    double steps() const { return static_cast<double>(workflows * steps_each); }

    double steps_per_second() const { return steps() / seconds; }
};

/// As many as go, in an engine that runs and has the definition. `starter` starts them; null = the
/// engine itself. Throws std::runtime_error when they do not end.
Saturated run_saturated_in(
    Engine& engine,
    Progress& progress,
    const Saturation& saturation = {},
    const Load& load = {},
    Engine* starter = nullptr
);

/// The same in an engine of its own.
Saturated run_saturated(
    Store& store, Progress& progress, const Saturation& saturation = {}, const Load& load = {}
);

}  // namespace ebb::bench
