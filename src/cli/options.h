#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <ebb/time.h>

#include "cli/style.h"
#include "cli/time_text.h"

// What the user has asked for, command by command. Only the app*.cpp files know how it was parsed.

namespace ebb::cli {

/// What results look like.
enum class OutputFormat {
    Table,  ///< for people
    Wide,   ///< the same with all columns, however wide
    Name,   ///< only names or ids, one in each line
    Json,   ///< one document
    Jsonl,  ///< one document in each line
    Yaml,
};

struct GlobalOptions {
    std::string db{};                  ///< empty = neither --db nor EBB_DB
    std::string server{};              ///< empty = no --server
    std::vector<std::string> types{};  ///< files of node types
    ColorMode color = ColorMode::Auto;
    OutputFormat format = OutputFormat::Table;
    bool is_json = false;  ///< Json, Jsonl or Yaml: results and errors are for machines
    bool is_quiet = false;
};

struct RunOptions {
    std::string file{};
    std::string resume{};  ///< an instance to continue; empty = a new one
    std::string input{};   ///< empty = null
    std::string key{};
    std::string by{};
    std::optional<int> priority{};
    std::vector<std::string> labels{};  ///< `NAME=VALUE`, or `NAME:TYPE=VALUE`
    Duration timeout = Duration::max();
    Duration drain_timeout = std::chrono::seconds(30);
    Duration stop_grace = std::chrono::seconds(5);
    int threads = 0;
    bool may_exec = false;
    std::string stub{};  ///< `echo`: handlers that the file does not describe return their input
};

struct ValidateOptions {
    std::vector<std::string> files{};  ///< files, folders and patterns
    std::string files_from{};          ///< a file with their names; `-` = stdin; empty = none
    std::string format{};              ///< empty = text, or with --json JSON
    bool with_lints = false;
    bool if_workflow = false;  ///< skip files that contain no workflow
};

struct LspOptions {
    std::string log{};  ///< a file for the messages; empty = none
};

struct DiagramCommandOptions {
    std::string subject{};  ///< a file, or an instance
    std::string format{};   ///< empty = by the output file's ending, else text
    std::string output{};   ///< empty = stdout
};

struct StartCommandOptions {
    std::string workflow{};  ///< a name, or a file
    std::string input{};
    std::string key{};
    std::string by{};
    std::optional<int> version{};
    std::optional<int> priority{};
    std::vector<std::string> labels{};  ///< as of RunOptions
    bool waits = false;
    Duration timeout = Duration::max();
};

struct WorkerOptions {
    std::vector<std::string> files{};
    std::vector<std::string> queues{};
    std::string id{};
    int threads = 0;
    Duration drain_timeout = std::chrono::seconds(30);
    Duration stop_grace = std::chrono::seconds(5);
    Duration lease = std::chrono::seconds(10);
    bool is_once = false;
    bool may_exec = false;
    bool is_verbose = false;
};

struct ListCommandOptions {
    std::vector<std::string> statuses{};
    std::string workflow{};
    std::optional<int> version{};
    std::string key{};
    std::string before{};
    std::string after{};
    std::string since{};
    std::string until{};
    std::string sort{};     ///< `created` = the oldest first
    std::string waiting{};  ///< a kind of wait, or `any`
    std::string error{};    ///< part of the code or the message
    std::string handler{};
    std::string where{};  ///< a filter
    Times times = Times::Relative;
    bool watches = false;
    Duration every = std::chrono::seconds(2);
    int limit = 20;
    bool only_ids = false;
};

struct CountOptions {
    std::string where{};
    std::string workflow{};
    std::vector<std::string> by{};  ///< `status`, `workflow`
};

/// Of verbs for all instances that a filter finds.
struct BulkOptions {
    std::string where{};  ///< empty = the instances are named
    bool is_dry_run = false;
    bool is_confirmed = false;
    bool is_detached = false;  ///< the servers of the database do it
    std::string rate{};        ///< `100/1s`; empty = as fast as it goes
    std::int64_t limit = 0;    ///< 0 = all
};

struct WorkflowsOptions {
    bool only_names = false;
    bool has_system = false;
};

struct MigrateOptions {
    bool only_status = false;
    bool only_print = false;
    bool only_grants = false;
    bool with_sql_workers = false;
    bool with_rules_sql = false;
    std::string partition_by{};  ///< `day`, `week`, `month`; empty = as it is
};

struct HistoryOptions {
    std::string instance{};
    std::int64_t after = 0;
    std::optional<int> limit{};
    Times times = Times::Relative;
    bool with_payloads = false;
    bool follows = false;
};

struct TraceOptions {
    std::string instance{};
    std::int64_t after = 0;
    std::optional<int> limit{};
    std::optional<std::int64_t> at{};  ///< print nothing but the attributes at this event
    Times times = Times::Relative;
};

struct ShowOptions {
    std::vector<std::string> instances{};
    Times times = Times::Relative;
    bool with_payloads = false;
    bool is_whole = false;
    bool watches = false;
    Duration every = std::chrono::seconds(1);
};

/// Of cancel, abort, pause and resume.
struct SteerOptions {
    std::vector<std::string> instances{};
    BulkOptions bulk{};
    std::string by{};
    std::string reason{};
    std::optional<std::int64_t> if_revision{};
};

struct DecideOptions {
    std::string instance{};
    std::string verdict{};
    std::string node{};
    std::string by{};
    std::string role{};
    std::string comment{};
    std::string request_id{};
    std::optional<std::int64_t> if_revision{};
};

struct SignalOptions {
    std::string instance{};
    std::string name{};
    std::string payload{};
    std::string by{};
    std::string request_id{};
    std::optional<std::int64_t> if_revision{};
};

struct WriteCommandOptions {
    std::string instance{};
    std::vector<std::string> assignments{};
    std::string values{};
    bool is_repair = false;
    std::string by{};
    std::string request_id{};
    std::optional<std::int64_t> if_revision{};
};

struct RecoverCommandOptions {
    std::string instance{};
    std::int64_t to = 0;
    std::string then{"rematch"};
    bool is_dry_run = false;
    std::string by{};
    std::string request_id{};
    std::optional<std::int64_t> if_revision{};
};

struct RequeueCommandOptions {
    std::vector<std::string> instances{};
    BulkOptions bulk{};
    std::string input{};
    std::string by{};
    bool skip_compensation = false;
    std::string group{};  ///< in place of `instances`: all dead-lettered ones of this group
    std::optional<std::int64_t> if_revision{};
};

struct DecisionsOptions {
    std::vector<std::string> roles{};
    std::string workflow{};
    int limit = 100;
    Times times = Times::Relative;
};

struct DelayedOptions {
    std::string workflow{};
    int limit = 100;
    Times times = Times::Relative;
};

struct FailuresOptions {
    std::string group{};
    std::string workflow{};
    std::string status{};
    int limit = 100;
    Times times = Times::Relative;
};

struct ExportCommandOptions {
    std::string instance{};
    std::string output{};  ///< empty = stdout
    std::string by{};
    Duration wait{0};
};

struct ImportCommandOptions {
    std::string file{};      ///< `-` = stdin
    std::string workflow{};  ///< a definition's file, which is registered first
    std::string by{};
};

struct QueueOptions {
    std::string action = "list";
    std::string name{};
    // As they were typed: a number, `none`, or empty = as it is.
    std::string concurrency{};
    std::string concurrency_per_key{};
    std::string rate{};  ///< `100/1m`
};

struct WebhookOptions {
    std::string action = "list";
    std::string name{};
    std::string url{};
    std::string format = "standard";
    std::vector<std::string> events{};
    std::vector<std::string> workflows{};
    std::string secret_file{};
    Duration keep_old = std::chrono::hours(24);  ///< of rotate: the old secret signs, too
    bool is_disabled = false;
};

struct RetentionCommandOptions {
    std::string action = "list";
    std::string workflow{};
    // As they were typed; empty = as it is.
    std::string kept{};
    std::string completed{};
    std::string failed{};
};

struct PurgeCommandOptions {
    std::string workflow{};
    std::optional<std::string> older_than{};
    bool is_dry_run = false;
};

/// Of the hidden command that completion scripts call.
struct CompleteOptions {
    std::string what{};  ///< `instances`, `signals`, `queues`
    std::vector<std::string> words{};
};

struct ResultOptions {
    std::string instance{};
};

struct RerunOptions {
    std::string instance{};
    BulkOptions bulk{};
    std::string input{};  ///< empty = that of the old instance
    std::string key{};
    std::string by{};
    std::optional<int> version{};
    bool waits = false;
    Duration timeout = Duration::max();
};

struct WaitOptions {
    std::string instance{};
    Duration timeout = Duration::max();
};

}  // namespace ebb::cli
