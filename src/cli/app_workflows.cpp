// The commands about workflows and those that run them.

#include <algorithm>
#include <cstdint>
#include <memory>

#include <nlohmann/json.hpp>

#include "cli/app.h"
#include "cli/completion.h"
#include "cli/embed_command.h"

namespace ebb::cli {

namespace {

constexpr const char* kInputHelp =
    "JSON, @FILE, - for stdin, or sample:NAME of the workflow's file (default: null)";
constexpr const char* kKeyHelp = "Start at most one instance with this key per workflow";
constexpr const char* kEmptyKey = "it is empty; give a key, or leave the option out";
constexpr const char* kEmptyInput = "it is empty; give JSON, such as null, or leave the option out";
constexpr int kThreadsMax = 4'096;
constexpr int kPriorityMax = 100;

/// The text between the commas (or the lines, by which CLI11 joins repeated options), even if
/// that is nothing.
std::vector<std::string> split_names(std::string_view text) {
    std::vector<std::string> names;
    while (true) {
        const std::size_t comma = text.find_first_of(",\n");
        names.emplace_back(text.substr(0, comma));
        if (comma == std::string_view::npos) return names;
        text.remove_prefix(comma + 1);
    }
}

constexpr const char* kThreadsHelp = "Handlers at once (default: one per core, at least 2)";

}  // namespace

void CommandLine::add_allow_exec(CLI::App* command, bool& may_exec) {
    command->add_flag(
        "--allow-exec",
        may_exec,
        "Run programs of handlers that only the database describes ($EBB_ALLOW_EXEC=1)"
    );
}

void CommandLine::add_threads(CLI::App* command, int& target) {
    command->add_option("--threads", target, kThreadsHelp)
        ->check(within(1, kThreadsMax))
        ->type_name("N");
}

void CommandLine::add_priority(CLI::App* command, std::optional<int>& target) {
    command->add_option("--priority", target, "-100 to 100 (default: the workflow's)")
        ->check(within(-kPriorityMax, kPriorityMax))
        ->type_name("N");
}

void CommandLine::add_labels(CLI::App* command, std::vector<std::string>& target) {
    command
        ->add_option(
            "-l,--label",
            target,
            "A label to find it by: NAME=VALUE, or NAME:TYPE=VALUE (text, number, bool, time)"
        )
        ->allow_extra_args(false)
        ->type_name("NAME=VALUE");
}

void CommandLine::add_run() {
    CLI::App* run =
        add_command("run", "Run one workflow to its end, here and now", [this](Session& s) {
            return run_workflow(s, run_);
        });
    run->group("Run");
    run->add_option("FILE", run_.file, "The workflow: YAML or JSON, or - for stdin");
    run->add_option("-i,--input", run_.input, kInputHelp)
        ->type_name("JSON")
        ->check(not_empty(kEmptyInput));
    run->add_option("--key", run_.key, kKeyHelp)->type_name("KEY")->check(not_empty(kEmptyKey));
    run->add_option("--resume", run_.resume, "Continue this instance of --db")
        ->type_name("INSTANCE");
    add_duration(run, "--timeout", run_.timeout, "Give up after this time");
    add_duration(
        run,
        "--drain-timeout",
        run_.drain_timeout,
        "How long running handlers may continue after Ctrl-C (30s)"
    );
    add_duration(
        run,
        "--stop-grace",
        run_.stop_grace,
        "How long a handler may continue after it was asked to stop; a program's own grace counts "
        "if it is longer (5s)",
        {.least = std::chrono::milliseconds(1)}
    );
    add_threads(run, run_.threads);
    add_priority(run, run_.priority);
    add_labels(run, run_.labels);
    add_allow_exec(run, run_.may_exec);
    add_choice(
        run,
        "--stub",
        run_.stub,
        "What handlers do that the file does not describe: echo = return their input",
        {"echo"}
    );
    run->add_option("--by", run_.by, "Who starts it (default: $USER)")->type_name("NAME");
    run->add_flag_callback(
        "--events",
        [this] { format_ = "jsonl"; },
        "Print what happens as JSON lines: the start, each event, and the instance at the end"
    );
}

void CommandLine::add_worker() {
    CLI::App* worker =
        add_command("worker", "Run due tasks until SIGTERM or Ctrl-C", [this](Session& s) {
            return run_worker(s, worker_);
        });
    worker->group("Run");
    worker->add_option("FILE", worker_.files, "Workflows to register first");
    add_threads(worker, worker_.threads);
    // Split here: CLI11's delimiter skips empty names, and no names would mean all queues.
    const auto read_queues = [this](const std::string& text) {
        worker_.queues = split_names(text);
        const auto& names = worker_.queues;
        if (std::find(names.begin(), names.end(), "") == names.end()) return;
        throw CLI::ValidationError(
            "--queues", "\"\" names no queue; give names, or leave it out to serve all queues"
        );
    };
    worker
        ->add_option_function<std::string>(
            "--queues", read_queues, "Only these queues, separated by commas (default: all)"
        )
        ->multi_option_policy(CLI::MultiOptionPolicy::Join)
        ->type_name("NAME,...");
    add_duration(
        worker,
        "--drain-timeout",
        worker_.drain_timeout,
        "How long handlers may continue after SIGTERM (30s)"
    );
    add_duration(
        worker,
        "--stop-grace",
        worker_.stop_grace,
        "How long a handler may continue after it was asked to stop; a program's own grace counts "
        "if it is longer (5s)",
        {.least = std::chrono::milliseconds(1)}
    );
    add_duration(
        worker,
        "--lease",
        worker_.lease,
        "How long after this worker's death others take over (10s)",
        {.least = EngineOptions::kLeaseMin, .most = EngineOptions::kLeaseMax}
    );
    worker->add_option("--id", worker_.id, "This worker's name (default: host, process, random)")
        ->type_name("NAME");
    worker->add_flag("--once", worker_.is_once, "Stop when nothing is due; one handler at a time");
    add_allow_exec(worker, worker_.may_exec);
    worker->add_flag("-v,--verbose", worker_.is_verbose, "Log every event");
}

void CommandLine::add_start() {
    CLI::App* start = add_command("start", "Start an instance; workers run it", [this](Session& s) {
        return start_instance(s, start_);
    });
    start->group("Run");
    start->add_option("WORKFLOW", start_.workflow, "A registered name, or a file to register first")
        ->required();
    start->add_option("-i,--input", start_.input, kInputHelp)
        ->type_name("JSON")
        ->check(not_empty(kEmptyInput));
    start->add_option("--key", start_.key, kKeyHelp)->type_name("KEY")->check(not_empty(kEmptyKey));
    start->add_option("--version", start_.version, "Which version (default: the newest)")
        ->check(within(1, DefinitionLimits::kVersionMax))
        ->type_name("N");
    add_priority(start, start_.priority);
    add_labels(start, start_.labels);
    start->add_option("--by", start_.by, "Who starts it (default: $USER)")->type_name("NAME");
    CLI::Option* wait =
        start->add_flag("--wait", start_.waits, "Wait for its end, as `ebb wait` does");
    add_duration(start, "--timeout", start_.timeout, "With --wait: give up after this time");
    start->get_option("--timeout")->needs(wait);
}

void CommandLine::add_validate() {
    CLI::App* validate =
        add_command("validate", "Find all problems of workflow files", [this](Session& s) {
            return validate_files(s, validate_);
        });
    validate->group("Workflows");
    validate->add_option("FILE", validate_.files, "Files, folders, patterns, or - for stdin");
    validate
        ->add_option(
            "--files-from",
            validate_.files_from,
            "Read the names of files from here, or - for stdin"
        )
        ->type_name("FILE");
    add_choice(
        validate,
        "-f,--format",
        validate_.format,
        "Default: text",
        {"text", "json", "github", "sarif", "gitlab"}
    );
    validate->add_flag("--lint", validate_.with_lints, "Also warn about what is valid but unwise");
    validate->add_flag(
        "--if-workflow", validate_.if_workflow, "Skip files that contain no workflow"
    );
}

void CommandLine::add_diagram() {
    const auto pages = std::make_shared<EmbedOptions>();
    CLI::App* diagram = add_command(
        "diagram",
        "Draw a workflow, or the progress of an instance",
        [this, pages](Session& s) {
            return pages->pages.empty() ? draw_diagram(s, diagram_) : embed_pictures(s, *pages);
        }
    );
    diagram->group("Workflows");
    diagram->add_option(
        "SUBJECT", diagram_.subject, "A workflow's file, NAME@VERSION, or an instance"
    );
    add_choice(
        diagram,
        "-f,--format",
        diagram_.format,
        "Default: by the ending of -o, else text",
        {"mermaid", "plantuml", "dot", "svg", "text"}
    );
    diagram->add_option("-o,--output", diagram_.output, "Write to this file")->type_name("FILE");
    CLI::Option* embed =
        diagram
            ->add_option(
                "--embed", pages->pages, "Draw the pictures of pages in Markdown, in place"
            )
            ->type_name("FILE");
    for (const char* other : {"SUBJECT", "--format", "--output"}) {
        embed->excludes(diagram->get_option(other));
    }
    diagram
        ->add_flag("--check", pages->only_checks, "Of --embed: change nothing, fail if one is old")
        ->needs(embed);
}

void CommandLine::add_diff() {
    CLI::App* diff = add_command("diff", "Compare two workflows node by node", [this](Session& s) {
        return compare_workflows(s, diff_);
    });
    diff->group("Workflows");
    diff->add_option("BEFORE", diff_.before, "A file, or NAME@VERSION of the database")->required();
    diff->add_option("AFTER", diff_.after, "Like BEFORE")->required();
    add_choice(
        diff,
        "-f,--format",
        diff_.format,
        "The format (default: text)",
        {"text", "json", "md", "svg"}
    );
    diff->add_option("-o,--output", diff_.output, "Write the picture of the difference")
        ->type_name("FILE");
    diff->add_flag(
        "--require-version",
        diff_.requires_version,
        "Fail if the content has changed but not the version"
    );
}

void CommandLine::add_lsp() {
    CLI::App* lsp = add_command("lsp", "Serve an editor: the language server", [this](Session& s) {
        return serve_editor(s, lsp_);
    });
    lsp->group("Workflows");
    lsp->add_flag_function("--stdio", [](std::int64_t) {}, "What editors add; it changes nothing");
    lsp->add_option("--log", lsp_.log, "Write the methods of all messages to this file")
        ->type_name("FILE");
}

void CommandLine::add_workflows() {
    CLI::App* workflows =
        add_command("workflows", "List the registered workflows", [this](Session& s) {
            return list_workflows(s, workflows_);
        });
    workflows->group("Workflows");
    add_output(workflows, {"json", "jsonl", "yaml", "wide", "name"});
    workflows->add_flag("--names", workflows_.only_names, "Only their names, one per line");
    workflows->add_flag(
        "--system", workflows_.has_system, "Also those that Ebb itself runs, such as ebb:webhook"
    );
}

void CommandLine::add_migrate() {
    CLI::App* migrate =
        add_command("migrate", "Bring the database's schema up to date", [this](Session& s) {
            return migrate_database(s, migrate_);
        });
    migrate->group("Other");
    migrate->add_flag(
        "--status", migrate_.only_status, "Only list migrations and when they were applied"
    );
    migrate->add_flag("--print", migrate_.only_print, "Only print the SQL that would be run");
    migrate->add_flag(
        "--grants",
        migrate_.only_grants,
        "Only print the SQL that grants PostgreSQL's roles their rights"
    );
    migrate->add_flag(
        "--sql-workers",
        migrate_.with_sql_workers,
        "Install PostgreSQL's functions for workers and requests (ebb.start, ...) in SQL"
    );
    migrate->add_flag(
        "--rules-sql",
        migrate_.with_rules_sql,
        "Install the same, and the functions for rules as tables"
    );
    add_choice(
        migrate,
        "--partition-by",
        migrate_.partition_by,
        "Partition PostgreSQL's tables by the start time of instances",
        {"day", "week", "month"}
    );
}

void CommandLine::add_dev() {
    CLI::App* dev =
        add_command("dev", "Run workflows while you edit their files", [this](Session& s) {
            return develop(s, dev_);
        });
    dev->group("Run");
    dev->add_option("FILE", dev_.files, "Workflows: YAML or JSON")->required();
    dev->add_option("-i,--input", dev_.input, "Start an instance with this after each change")
        ->type_name("JSON");
    add_threads(dev, dev_.threads);
}

void CommandLine::add_init() {
    CLI::App* init = add_command("init", "Write the first files of a project", [this](Session& s) {
        return make_project(s, init_);
    });
    init->group("Other");
    init->add_option("FOLDER", init_.folder, "Where to write (default: the current folder)")
        ->check(not_empty("it is empty; name a folder, or leave it out for the current one"));
    init->add_option("--name", init_.name, "The workflow's name (default: that of the folder)")
        ->type_name("NAME");
    init->add_flag("--yaml", init_.is_yaml, "A workflow in YAML instead of a C++ project");
}

/// What the completion scripts ask for.
void CommandLine::add_complete() {
    CLI::App* complete = add_command("__complete", "Print what may follow", [this](Session& s) {
        return complete_word(s, complete_);
    });
    complete->group("");
    complete->add_option("WHAT", complete_.what)->required();
    complete->add_option("WORD", complete_.words);
}

void CommandLine::add_completion() {
    CLI::App* completion =
        add_command("completion", "Print a completion script", [this](Session& s) {
            const std::string script = completion_script(shell_, describe());
            if (s.options().is_json) {
                s.print_json({{"shell", shell_}, {"script", script}});
            } else {
                s.print(script);
            }
            return static_cast<int>(kOk);
        });
    completion->group("Other");
    add_choice(completion, "SHELL", shell_, "The shell", {"bash", "zsh", "fish"});
    completion->get_option("SHELL")->required();
    add_complete();
}

}  // namespace ebb::cli
