#pragma once

#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "cli/command_info.h"
#include "cli/commands.h"
#include "cli/compare_commands.h"
#include "cli/delivery_options.h"
#include "cli/options.h"
#include "cli/overview_commands.h"
#include "cli/project_commands.h"
#include "cli/rules_commands.h"
#include "cli/serve_options.h"

// Only app*.cpp include this: CLI11 costs more than two seconds in every file.

namespace ebb::cli {

/// The command line: parses the arguments into options and remembers the requested action.
class CommandLine {
 public:
    CommandLine();
    CommandLine(const CommandLine&) = delete;
    CommandLine& operator=(const CommandLine&) = delete;

    /// The request that the arguments make.
    struct Request {
        GlobalOptions global{};
        std::function<int(Session&)> action{};  ///< empty: print `text`
        std::string text{};                     ///< help
    };

    /// The error in the arguments.
    struct Mistake {
        std::string message{};
        std::string hint{};
    };

    /// Throws Mistake.
    Request parse(std::span<const std::string> args);

    /// The global options as far as they could be read, so that an error is printed in the
    /// requested format.
    const GlobalOptions& global() const { return global_; }

    std::vector<CommandInfo> describe() const;

 private:
    using Action = std::function<int(Session&)>;

    // app_workflows.cpp
    void add_commands();
    void add_run();
    void add_worker();
    void add_start();
    void add_validate();
    void add_diagram();
    void add_diff();
    void add_lsp();
    void add_workflows();
    void add_migrate();
    void add_completion();
    void add_dev();
    void add_init();
    void add_complete();

    // app_serve.cpp
    void add_serve();
    int serve(Session& session);
    void configure_serve(Session& session);
    void add_serve_database(CLI::App* serve);
    void add_serve_network(CLI::App* serve);
    void add_token();
    void add_login_link();
    void add_openapi();

    // app_access.cpp
    void add_access();
    void add_serve_access(CLI::App* serve);
    void add_project();
    void add_grant();
    void add_audit();
    void add_given_role(CLI::App* command, GivenRole& given, const std::string& of);

    // app_instances.cpp
    void add_list();
    void add_count();
    void add_bulk(CLI::App* command, BulkOptions& bulk);
    void add_reading();
    void add_wait();
    void add_steering();
    void add_decide();
    void add_signal();
    void add_attributes();
    void add_write();
    void add_trace();
    void add_recover();
    void add_requeue();
    void add_transfer();
    void add_result();
    void add_rerun();

    // app_queues.cpp
    void add_queue();
    void add_webhook();
    void add_hook();
    void add_key();
    void add_session();
    void add_workers();
    void add_overview();
    void add_doctor();
    void add_triage();

    // app_rules.cpp
    void add_rules();
    void add_rules_surface(CLI::App* rules);

    // app_retention.cpp
    void add_retention();
    void add_purge();

    CLI::App* add_command(std::string name, std::string description, Action action);
    static void add_instance(CLI::App* command, std::string& target);
    static void add_instances(CLI::App* command, std::vector<std::string>& targets);
    static void add_watch(CLI::App* command, bool& watches, Duration& every);
    /// An empty value, such as that of a variable of the shell that is not set, is refused.
    static CLI::Validator not_empty(std::string message);
    static CLI::Validator within(std::int64_t least, std::int64_t most);
    static void add_threads(CLI::App* command, int& target);
    static void add_allow_exec(CLI::App* command, bool& may_exec);
    static void add_if_revision(CLI::App* command, std::optional<std::int64_t>& target);
    static void add_priority(CLI::App* command, std::optional<int>& target);
    static void add_labels(CLI::App* command, std::vector<std::string>& target);

    struct DurationRange {
        Duration least = Duration::zero();
        Duration most = Duration::max();
    };

    static void add_duration(
        CLI::App* command,
        const std::string& name,
        Duration& target,
        std::string description,
        DurationRange range
    );

    static void add_duration(
        CLI::App* command, const std::string& name, Duration& target, std::string description
    ) {
        add_duration(command, name, target, std::move(description), {});
    }

    void add_choice(
        CLI::App* command,
        const std::string& name,
        std::string& target,
        const std::string& description,
        std::vector<std::string> choices
    );
    void add_request_id(CLI::App* command, std::string& target);
    void add_output(CLI::App* command, std::vector<std::string> formats);
    void add_times(CLI::App* command, Times& target);
    void read_output();

    std::string help() const;
    Mistake explain(const CLI::ParseError& error) const;
    Mistake explain_unknown(const std::string& word) const;

    CLI::App app_;
    GlobalOptions global_;
    std::string color_ = "auto";
    std::string format_{};
    Action action_;
    std::vector<std::string> args_;
    std::map<const CLI::Option*, std::vector<std::string>> choices_;

    RunOptions run_;
    WorkerOptions worker_;
    ServeOptions serve_;
    TokenOptions token_;
    ProjectOptions project_;
    GrantOptions grant_;
    HookOptions hook_;
    KeyOptions key_;
    SessionOptions session_;
    DeliveryOptions delivery_;
    AuditOptions audit_;
    LoginLinkOptions login_link_;
    StartCommandOptions start_;
    ValidateOptions validate_;
    DiagramCommandOptions diagram_;
    DiffOptions diff_;
    RulesOptions rules_;
    LspOptions lsp_;
    WorkflowsOptions workflows_;
    MigrateOptions migrate_;
    ListCommandOptions list_;
    CountOptions count_;
    ShowOptions show_;
    HistoryOptions history_;
    std::vector<std::string> instances_;
    WaitOptions wait_;
    ResultOptions result_;
    RerunOptions rerun_;
    TopOptions top_;
    DevOptions dev_;
    InitOptions init_;
    CompleteOptions complete_;
    SteerOptions steer_;
    DecideOptions decide_;
    SignalOptions signal_;
    WriteCommandOptions write_;
    TraceOptions trace_;
    RecoverCommandOptions recover_;
    RequeueCommandOptions requeue_;
    DecisionsOptions decisions_;
    DelayedOptions delayed_;
    FailuresOptions failures_;
    ExportCommandOptions export_;
    ImportCommandOptions import_;
    QueueOptions queue_;
    WebhookOptions webhook_;
    RetentionCommandOptions retention_;
    PurgeCommandOptions purge_;
    std::string shell_;
};

}  // namespace ebb::cli
