#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/context.h"

// The commands as plain functions over plain options: what CLI11 fills in, what tests call. Each
// returns the exit code and throws what it cannot do.

namespace ebb::cli {

struct RunOptions {
    std::string file;
    std::string input = "null";
    std::string key;
    std::string resume;  ///< go on with this instance instead of starting one
    std::string timeout;
    int threads = 0;
    bool is_quiet = false;
};

int run(Context& context, const RunOptions& options);

struct WorkerOptions {
    std::vector<std::string> files;
    std::vector<std::string> queues;
    std::string drain_timeout = "30s";
    int threads = 0;
    bool is_once = false;
};

int worker(Context& context, const WorkerOptions& options);

struct StartCommandOptions {
    std::string workflow;
    std::string input = "null";
    std::string key;
    std::optional<int> version;
    std::optional<int> priority;
    bool waits = false;
    std::string timeout;
};

int start(Context& context, const StartCommandOptions& options);

struct WaitOptions {
    std::string instance;
    std::string timeout;
};

int wait(Context& context, const WaitOptions& options);

struct ListCommandOptions {
    std::vector<std::string> statuses;
    std::string workflow;
    std::string key;
    int limit = 50;
    bool ids_only = false;
};

int list(Context& context, const ListCommandOptions& options);

int show(Context& context, const std::string& instance);
int why(Context& context, const std::string& instance);
int workflows(Context& context);

struct HistoryCommandOptions {
    std::string instance;
    std::int64_t after = 0;
    int limit = 1'000;
};

int history(Context& context, const HistoryCommandOptions& options);

/// cancel, abort, pause, resume.
struct SteerOptions {
    std::string verb;
    std::string instance;
    std::string by;
    std::string reason;
};

int steer(Context& context, const SteerOptions& options);

struct DecideOptions {
    std::string instance;
    std::string verdict;
    std::string node;
    std::string by;
    std::string role;
    std::string comment;
    std::string request_id;
};

int decide(Context& context, const DecideOptions& options);

struct SignalOptions {
    std::string instance;
    std::string name;
    std::string payload = "null";
    std::string request_id;
};

int signal(Context& context, const SignalOptions& options);

struct RequeueCommandOptions {
    std::string instance;
    std::string input;
    std::string by;
    bool skip_compensation = false;
};

int requeue(Context& context, const RequeueCommandOptions& options);

int validate_files(Context& context, const std::vector<std::string>& files);

struct DiagramCommandOptions {
    std::string subject;  ///< a file or an instance
    std::string format = "mermaid";
    std::string output;
};

int diagram(Context& context, const DiagramCommandOptions& options);

/// `30s`, `5m`...; empty = for ever. Throws UsageError.
Duration timeout_of(const std::string& text);

/// Says on the terminal (or as JSON) why a command failed; returns its exit code.
int report_failure(Context& context, std::exception_ptr failure);

/// What a terminal shows of one history event while a workflow runs; empty for what people need not
/// see.
std::string progress_line(const Terminal& terminal, const HistoryEntry& entry);

/// The exit code of an instance's end.
int exit_code_of(const Result& result);

}  // namespace ebb::cli
