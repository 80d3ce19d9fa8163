// The only file that knows CLI11: it costs two seconds of compile time per includer.
#include "cli/cli.h"

#include <cstdlib>
#include <exception>
#include <functional>
#include <utility>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "cli/commands.h"
#include "core/expression/ast.h"

namespace ebb::cli {

namespace {

/// Everything that the command line can say, and what to do about it.
class CommandLine {
 public:
    explicit CommandLine(Terminal& terminal)
        : context_{terminal, {}},
          app_("Ebb runs durable workflows that ebb back when something fails.", "ebb") {
        const char* database = std::getenv("EBB_DB");
        context_.options.database = database == nullptr ? "" : database;
        app_.require_subcommand(1);
        app_.fallthrough();
        app_.option_defaults()->always_capture_default(false);
        app_.add_option(
            "--db",
            context_.options.database,
            "Store: sqlite:FILE or memory: (or the variable EBB_DB)"
        );
        app_.add_flag("--json", context_.options.json, "Answers for machines");
        app_.add_option("--color", color_, "Colours: auto, always or never")
            ->check(CLI::IsMember({"auto", "always", "never"}));
        app_.footer("docs/reference/cli.md describes every command, option and exit code.");
        add_running();
        add_inspecting();
        add_steering();
        add_definitions();
    }

    int run(std::span<const std::string> arguments) {
        try {
            app_.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));
            if (color_ != "auto")
                context_.terminal.set_color(
                    color_ == "always" ? ColorMode::Always : ColorMode::Never
                );
            return action_();
        } catch (const CLI::CallForHelp&) {
            context_.terminal.out(help());
            return kOk;
        } catch (const CLI::ParseError& error) {
            return usage(error, arguments);
        } catch (...) {
            return report_failure(context_, std::current_exception());
        }
    }

 private:
    CLI::App* add(
        const std::string& name, const std::string& description, std::function<int()> action
    ) {
        CLI::App* command = app_.add_subcommand(name, description);
        command->callback([this, action = std::move(action)] { action_ = action; });
        names_.push_back(name);
        return command;
    }

    std::string help() const {
        for (const CLI::App* command : app_.get_subcommands()) return command->help();
        return app_.help();
    }

    int usage(const CLI::ParseError& error, std::span<const std::string> arguments) {
        std::string message = error.what();
        const bool has_command = !app_.get_subcommands().empty();
        if (!has_command && !arguments.empty()) {
            std::string wrong;
            for (const std::string& argument : arguments) {
                if (!argument.starts_with('-')) {
                    wrong = argument;
                    break;
                }
            }
            const std::vector<std::string_view> known(names_.begin(), names_.end());
            const std::string_view near = expression::nearest(wrong, known);
            if (!wrong.empty() && std::find(names_.begin(), names_.end(), wrong) == names_.end()) {
                message = fmt::format(
                    "There is no command \"{}\".{}",
                    wrong,
                    near.empty() ? "" : fmt::format(" Did you mean \"{}\"?", near)
                );
            }
        }
        if (!message.ends_with('.') && !message.ends_with('?')) message += '.';
        const std::string of = has_command ? app_.get_subcommands().front()->get_name() + " " : "";
        context_.terminal.err(fmt::format("ebb: {} (usage)\nTry \"ebb {}--help\".\n", message, of));
        return kUsage;
    }

    void add_running() {
        CLI::App* run = add("run", "Run one workflow to its end, here and now", [this] {
            return cli::run(context_, run_);
        });
        run->add_option("file", run_.file, "The workflow: YAML or JSON")->required();
        run->add_option("-i,--input", run_.input, "Input: JSON, @FILE, or - for standard input");
        run->add_option("--key", run_.key, "Idempotency key: the same key is the same instance");
        run->add_option(
            "--resume", run_.resume, "Go on with this instance instead of starting one"
        );
        run->add_option(
            "--timeout",
            run_.timeout,
            "Give up waiting after this time (30s, 5m); the instance goes on"
        );
        run->add_option("--threads", run_.threads, "Handlers at once (default: one per core)")
            ->check(CLI::Range(1, 1'024));
        run->add_flag("-q,--quiet", run_.is_quiet, "Show no progress");

        CLI::App* worker = add("worker", "Run handlers until SIGTERM", [this] {
            return cli::worker(context_, worker_);
        });
        worker->add_option(
            "files", worker_.files, "Workflows to register and serve (default: all in the store)"
        );
        worker->add_option("--queues", worker_.queues, "Serve only these queues")->delimiter(',');
        worker->add_option("--threads", worker_.threads, "Handlers at once (default: one per core)")
            ->check(CLI::Range(1, 1'024));
        worker->add_option(
            "--drain-timeout",
            worker_.drain_timeout,
            "How long running handlers may go on after SIGTERM (30s)"
        );
        worker->add_flag("--once", worker_.is_once, "Do what is due now, then end");

        CLI::App* start = add("start", "Start an instance; workers run it", [this] {
            return cli::start(context_, start_);
        });
        start
            ->add_option(
                "workflow", start_.workflow, "A workflow's name, or its file to register first"
            )
            ->required();
        start->add_option(
            "-i,--input", start_.input, "Input: JSON, @FILE, or - for standard input"
        );
        start->add_option(
            "--key", start_.key, "Idempotency key: the same key is the same instance"
        );
        start->add_option(
            "--version", start_.version, "The workflow's version (default: the newest)"
        );
        start->add_option("--priority", start_.priority, "-100 to 100")
            ->check(CLI::Range(-100, 100));
        start->add_flag("--wait", start_.waits, "Wait for the result");
        start->add_option("--timeout", start_.timeout, "Give up waiting after this time (30s, 5m)");

        CLI::App* wait = add("wait", "Wait until an instance has ended", [this] {
            return cli::wait(context_, wait_);
        });
        wait->add_option("instance", wait_.instance, "Id, its beginning, or key:WORKFLOW/KEY")
            ->required();
        wait->add_option("--timeout", wait_.timeout, "Give up waiting after this time (30s, 5m)");
    }

    void add_inspecting() {
        CLI::App* list = add("list", "List instances, newest first", [this] {
            return cli::list(context_, list_);
        });
        list->add_option("-s,--status", list_.statuses, "Only these statuses")
            ->delimiter(',')
            ->check(CLI::IsMember(
                {"running",
                 "paused",
                 "compensating",
                 "dead_letter",
                 "completed",
                 "failed",
                 "cancelled",
                 "aborted"}
            ));
        list->add_option("-w,--workflow", list_.workflow, "Only of this workflow");
        list->add_option("--key", list_.key, "Only with this key");
        list->add_option("-n,--limit", list_.limit, "At most this many (50)")
            ->check(CLI::Range(1, 1'000));
        list->add_flag("--ids", list_.ids_only, "Only the ids");

        CLI::App* show = add("show", "Show an instance: steps, attempts, waits, errors", [this] {
            return cli::show(context_, instance_);
        });
        show->add_option("instance", instance_, "Id, its beginning, or key:WORKFLOW/KEY")
            ->required();

        CLI::App* history = add("history", "Print an instance's history events", [this] {
            return cli::history(context_, history_);
        });
        history->add_option("instance", history_.instance, "Id, its beginning, or key:WORKFLOW/KEY")
            ->required();
        history->add_option("--after", history_.after, "Only events after this number")
            ->check(CLI::NonNegativeNumber);
        history->add_option("-n,--limit", history_.limit, "At most this many (1000)")
            ->check(CLI::Range(1, 10'000));

        CLI::App* why = add("why", "Say what an instance waits for, or why it ended", [this] {
            return cli::why(context_, instance_);
        });
        why->add_option("instance", instance_, "Id, its beginning, or key:WORKFLOW/KEY")
            ->required();

        add("workflows", "List the registered workflows", [this] {
            return cli::workflows(context_);
        });
    }

    void add_steering() {
        const std::pair<const char*, const char*> verbs[] = {
            {"cancel", "Stop an instance and compensate everything it did"},
            {"abort", "Stop an instance at once, compensating nothing"},
            {"pause", "Start nothing more of an instance until it is resumed"},
            {"resume", "Let a paused instance go on"}
        };
        for (const auto& [verb, description] : verbs) {
            CLI::App* command = add(verb, description, [this, name = std::string(verb)] {
                steer_.verb = name;
                return cli::steer(context_, steer_);
            });
            command
                ->add_option("instance", steer_.instance, "Id, its beginning, or key:WORKFLOW/KEY")
                ->required();
            command->add_option("--by", steer_.by, "Who asks (default: the user)");
            if (std::string_view(verb) != "resume")
                command->add_option("--reason", steer_.reason, "Why, for the history");
        }

        CLI::App* decide = add("decide", "Confirm or reject what waits for a person", [this] {
            return cli::decide(context_, decide_);
        });
        decide->add_option("instance", decide_.instance, "Id, its beginning, or key:WORKFLOW/KEY")
            ->required();
        decide->add_option("verdict", decide_.verdict, "confirm or reject")
            ->required()
            ->check(CLI::IsMember({"confirm", "reject"}));
        decide->add_option("--node", decide_.node, "Which decision, when several are awaited");
        decide->add_option("--by", decide_.by, "Who decides (default: the user)");
        decide->add_option("--role", decide_.role, "In which role");
        decide->add_option("--comment", decide_.comment, "Why");
        decide->add_option(
            "--request-id",
            decide_.request_id,
            "Repeating a request with the same id changes nothing"
        );

        CLI::App* signal = add("signal", "Send a signal to an instance", [this] {
            return cli::signal(context_, signal_);
        });
        signal->add_option("instance", signal_.instance, "Id, its beginning, or key:WORKFLOW/KEY")
            ->required();
        signal->add_option("name", signal_.name, "The signal's name")->required();
        signal->add_option("--payload", signal_.payload, "JSON, @FILE, or - for standard input");
        signal->add_option(
            "--request-id",
            signal_.request_id,
            "Repeating a request with the same id changes nothing"
        );

        CLI::App* requeue = add("requeue", "Let a dead-lettered instance go on", [this] {
            return cli::requeue(context_, requeue_);
        });
        requeue->add_option("instance", requeue_.instance, "Id, its beginning, or key:WORKFLOW/KEY")
            ->required();
        requeue->add_option(
            "-i,--input", requeue_.input, "New input of the failed step: JSON, @FILE or -"
        );
        requeue->add_option("--by", requeue_.by, "Who asks (default: the user)");
        requeue->add_flag(
            "--skip-compensation",
            requeue_.skip_compensation,
            "Pass over the exhausted compensation"
        );
    }

    void add_definitions() {
        CLI::App* validate = add("validate", "Check workflow files and draw them", [this] {
            return validate_files(context_, files_);
        });
        validate->add_option("files", files_, "Workflows: YAML or JSON")->required();

        CLI::App* diagram = add("diagram", "Draw a workflow or an instance", [this] {
            return cli::diagram(context_, diagram_);
        });
        diagram->add_option("subject", diagram_.subject, "A workflow's file, or an instance")
            ->required();
        diagram->add_option("-f,--format", diagram_.format, "mermaid, dot, svg or text")
            ->check(CLI::IsMember({"mermaid", "dot", "svg", "text"}));
        diagram->add_option("-o,--output", diagram_.output, "Write to this file");

        CLI::App* completion = add("completion", "Print a completion script", [this] {
            context_.terminal.out(completion_script(shell_, names_));
            return static_cast<int>(kOk);
        });
        completion->add_option("shell", shell_, "bash, zsh or fish")
            ->required()
            ->check(CLI::IsMember({"bash", "zsh", "fish"}));

        add("version", "Print the version", [this] {
            context_.terminal.out("ebb " EBB_VERSION "\n");
            return static_cast<int>(kOk);
        });
    }

    Context context_;
    CLI::App app_;
    std::function<int()> action_;
    std::vector<std::string> names_;
    std::string color_ = "auto";
    std::string instance_;
    std::string shell_;
    std::vector<std::string> files_;
    RunOptions run_;
    WorkerOptions worker_;
    StartCommandOptions start_;
    WaitOptions wait_;
    ListCommandOptions list_;
    HistoryCommandOptions history_;
    SteerOptions steer_;
    DecideOptions decide_;
    SignalOptions signal_;
    RequeueCommandOptions requeue_;
    DiagramCommandOptions diagram_;
};

}  // namespace

int run_cli(std::span<const std::string> arguments, Terminal& terminal) {
    return CommandLine(terminal).run(arguments);
}

}  // namespace ebb::cli
