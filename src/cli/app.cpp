// The parts of the command line that all commands share.

#include "cli/app.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <memory>

#include <fmt/format.h>

#include "cli/app_help.h"
#include "cli/text.h"
#include "support/clock.h"

namespace ebb::cli {

namespace {

/// Commands that the API of a server cannot stand in for: they run handlers, serve, or look after
/// the database itself.
bool needs_database(std::string_view command) {
    constexpr std::array kCommands = std::to_array<std::string_view>({
        "run",
        "worker",
        "serve",
        "dev",
        "token",
        "project",
        "grant",
        "audit",
        "session",
        "key",
        "migrate",
        "doctor",
        "retention",
        "purge",
    });
    return std::find(kCommands.begin(), kCommands.end(), command) != kCommands.end();
}

std::vector<std::string> command_names(const CLI::App& app) {
    std::vector<std::string> names;
    for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
        if (!command->get_group().empty()) names.push_back(command->get_name());
    }
    return names;
}

/// Without the dashes, which every option has: they make no two words alike.
std::vector<std::string> option_names(const CLI::App& app) {
    std::vector<std::string> names;
    for (const CLI::Option* option : app.get_options()) {
        const auto& own = option->get_lnames();
        names.insert(names.end(), own.begin(), own.end());
    }
    return names;
}

OptionInfo describe_option(const CLI::Option& option) {
    OptionInfo info{
        .description = option.get_description(),
        .takes_value = option.get_expected_max() > 0,
        .is_positional = option.get_positional(),
        .is_list = option.get_expected_max() > 1,
    };
    for (const std::string& name : option.get_lnames()) info.names.push_back("--" + name);
    for (const std::string& name : option.get_snames()) info.names.push_back("-" + name);
    if (info.is_positional) info.names.push_back(option.get_name(true));
    return info;
}

/// CLI11's sentences lack a full stop, and some an article.
std::string sentence(std::string text) {
    text = one_line(text);
    // The words of CLI11 for an option that is the last word: "--by: 1 required NAME missing".
    constexpr std::string_view kRequired = ": 1 required ";
    constexpr std::string_view kMissing = " missing";
    const std::size_t at = text.find(kRequired);
    if (text.starts_with('-') && at != std::string::npos && text.ends_with(kMissing)) {
        text.erase(text.size() - kMissing.size());
        text.replace(at, kRequired.size(), " needs a value: ");
    }
    constexpr std::string_view kExcludes = " excludes ";
    const std::size_t excluded = text.find(kExcludes);
    if (text.starts_with('-') && excluded != std::string::npos) {
        text.replace(excluded, kExcludes.size(), " cannot be used together with ");
    }
    if (!text.empty() && text.back() != '.' && text.back() != '?') text += '.';
    return text;
}

/// The command for a word that other tools use; empty if there is none.
std::string verb_for(std::string_view word) {
    static const std::map<std::string_view, std::string_view> kVerbs{
        {"approve", "decide INSTANCE confirm"},
        {"check", "validate"},
        {"delete", "purge"},
        {"describe", "show"},
        {"draw", "diagram"},
        {"events", "history"},
        {"get", "show"},
        {"instances", "list"},
        {"inspect", "show"},
        {"kill", "abort"},
        {"lint", "validate"},
        {"log", "history"},
        {"logs", "history -f"},
        {"ls", "list"},
        {"new", "init"},
        {"output", "result"},
        {"ps", "list"},
        {"reject", "decide INSTANCE reject"},
        {"remove", "purge"},
        {"reset", "rerun"},
        {"restart", "rerun"},
        {"retry", "requeue"},
        {"rm", "purge"},
        {"rollback", "cancel"},
        {"send", "signal"},
        {"status", "show"},
        {"snapshot", "export"},
        {"stop", "cancel"},
        {"stuck", "delayed"},
        {"tail", "history -f"},
        {"undo", "cancel"},
        {"unpause", "resume"},
        {"watch", "show -f"},
    };
    const auto found = kVerbs.find(word);
    return found == kVerbs.end() ? std::string() : std::string(found->second);
}

/// The option for a word that other tools use; empty if there is none.
std::string option_for(std::string_view word) {
    static const std::map<std::string_view, std::string_view> kOptions{
        {"address", "listen"},
        {"bind", "listen"},
        {"body", "input"},
        {"data", "input"},
        {"dsn", "db"},
        {"filter", "where"},
        {"format", "output"},
        {"host", "listen"},
        {"max", "limit"},
        {"payload", "input"},
        {"port", "listen"},
        {"query", "where"},
        {"state", "status"},
        {"tag", "label"},
        {"user", "by"},
    };
    const auto found = kOptions.find(word);
    return found == kOptions.end() ? std::string() : std::string(found->second);
}

/// The value that people mean by another word for it; empty if there is none.
std::string value_for(std::string_view word) {
    static const std::map<std::string_view, std::string_view> kValues{
        {"accept", "confirm"},
        {"accepted", "confirm"},
        {"approve", "confirm"},
        {"approved", "confirm"},
        {"decline", "reject"},
        {"declined", "reject"},
        {"deny", "reject"},
        {"done", "completed"},
        {"error", "failed"},
        {"human", "person"},
        {"no", "reject"},
        {"people", "person"},
        {"refuse", "reject"},
        {"success", "completed"},
        {"yes", "confirm"},
    };
    const auto found = kValues.find(word);
    return found == kValues.end() ? std::string() : std::string(found->second);
}

/// One of `choices`, spelled exactly like this.
CLI::Validator choice(const std::vector<std::string>& choices) {
    const auto check = [choices](const std::string& text) -> std::string {
        if (std::find(choices.begin(), choices.end(), text) != choices.end()) return {};
        const std::string value = value_for(text);
        const bool is_synonym = std::find(choices.begin(), choices.end(), value) != choices.end();
        const std::string meant = is_synonym ? value : closest(text, choices);
        if (choices.size() == 1) {
            return fmt::format("\"{}\" is not allowed; write {}", one_line(text), choices.front());
        }
        return fmt::format(
            "\"{}\" is not one of {}{}",
            one_line(text),
            fmt::join(choices, ", "),
            meant.empty() ? "" : fmt::format("; did you mean \"{}\"?", meant)
        );
    };
    return CLI::Validator(check, "", "choice");
}

/// Not in every build.
constexpr std::array<std::string_view, 10> kServerCommands{
    "audit", "grant", "hook", "key", "login-link", "openapi", "project", "serve", "session", "token"
};

constexpr std::string_view kAboutInstances =
    "An INSTANCE is an id or at least 4 characters of it (tables show the last 8),\n"
    "@1 for the newest one, or key:WORKFLOW/KEY.";

/// Whether an argument or the value of an option is an instance.
bool names_instances(const CLI::App& command) {
    const auto options = command.get_options();
    return std::any_of(options.begin(), options.end(), [](const CLI::Option* option) {
        return option->get_name() == "INSTANCE" || option->get_type_name() == "INSTANCE";
    });
}

}  // namespace

CommandLine::CommandLine()
    : app_(
          "Runs durable workflows: they flow forward step by step, survive crashes, and ebb\n"
          "back when something fails.",
          "ebb"
      ) {
    app_.formatter(std::make_shared<HelpFormatter>());
    app_.fallthrough();
    // What follows a command may be called like another one: a signal `cancel`, a queue `list`.
    app_.require_subcommand(0, 1);
    app_.footer(
        std::string(kAboutInstances) +
        "\n`ebb COMMAND --help` lists the options of a command. `man ebb` has everything;\n"
        "in a checkout, see docs/reference/cli.md."
    );
    app_.add_option("--db", global_.db, "PATH (SQLite), postgresql://..., memory: ($EBB_DB)")
        ->type_name("URL")
        ->check(not_empty("it is empty; give a database, or leave it out to take that of EBB_DB"));
    app_.add_option(
            "--server", global_.server, "http://HOST:PORT of `ebb serve`, unix:PATH ($EBB_SERVER)"
    )
        ->type_name("URL")
        ->excludes(app_.get_option("--db"));
    app_.add_option("--types", global_.types, "A file of node types that definitions may use")
        ->type_name("FILE")
        ->expected(1)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
    app_.add_flag("--json", global_.is_json, "Print JSON: one document, or one per line");
    add_choice(&app_, "--color", color_, "Colors", {"auto", "always", "never"});
    app_.add_flag("-q,--quiet", global_.is_quiet, "Only the result and errors");
    app_.add_flag(
        "--version", [this](std::int64_t) { action_ = show_version; }, "Print the version"
    );
    add_commands();
}

/// `ebb --help` prints the groups in the order of their first commands here.
void CommandLine::add_commands() {
    add_run();
    add_worker();
    add_serve();
    add_start();
    add_rerun();
    add_dev();
    add_list();
    add_count();
    add_reading();
    add_wait();
    add_result();
    add_overview();
    add_triage();
    add_workers();
    add_steering();
    add_decide();
    add_signal();
    add_attributes();
    add_requeue();
    add_transfer();
    add_queue();
    add_webhook();
    add_retention();
    add_purge();
    add_validate();
    add_diagram();
    add_diff();
    add_rules();
    add_workflows();
    add_lsp();
    add_init();
    add_doctor();
    add_migrate();
    add_token();
    add_access();
    add_login_link();
    add_openapi();
    add_completion();
    add_command("version", "Print the version", show_version)->group("Other");
}

CLI::App* CommandLine::add_command(std::string name, std::string description, Action action) {
    CLI::App* command = app_.add_subcommand(std::move(name), std::move(description));
    command->fallthrough();
    command->callback([this, action = std::move(action), name = command->get_name()] {
        action_ = [action, name](Session& session) {
            if (needs_database(name)) session.refuse_server(name);
            return action(session);
        };
    });
    return command;
}

void CommandLine::add_instance(CLI::App* command, std::string& target) {
    command->add_option("INSTANCE", target, "An id or part of it, @1, or key:WORKFLOW/KEY")
        ->required();
}

void CommandLine::add_instances(CLI::App* command, std::vector<std::string>& targets) {
    command
        ->add_option("INSTANCE", targets, "Ids or parts of them, @1, or key:WORKFLOW/KEY; several")
        ->required();
}

void CommandLine::add_watch(CLI::App* command, bool& watches, Duration& every) {
    command->add_flag("-f,--watch", watches, "Show it repeatedly until it ends or Ctrl-C");
    constexpr DurationRange kEvery{
        .least = std::chrono::milliseconds(100), .most = std::chrono::hours(1)
    };
    add_duration(command, "--every", every, "With --watch: the time between refreshes", kEvery);
}

/// CLI11's own Range describes itself in the middle of the help.
CLI::Validator CommandLine::not_empty(std::string message) {
    const auto check = [message = std::move(message)](const std::string& text) {
        return text.empty() ? message : std::string();
    };
    return CLI::Validator(check, "", "not_empty");
}

CLI::Validator CommandLine::within(std::int64_t least, std::int64_t most) {
    const auto check = [least, most](const std::string& text) -> std::string {
        std::int64_t value = 0;
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
        const bool is_number = error == std::errc() && end == text.data() + text.size();
        if (is_number && value >= least && value <= most) return {};
        return fmt::format("\"{}\" is not a number from {} to {}", one_line(text), least, most);
    };
    return CLI::Validator(check, "", "within");
}

void CommandLine::add_duration(
    CLI::App* command,
    const std::string& name,
    Duration& target,
    std::string description,
    DurationRange range
) {
    const auto read = [&target, name, range](const std::string& text) {
        const auto duration = parse_duration(text);
        if (!duration) {
            throw CLI::ValidationError(
                name,
                fmt::format(
                    "\"{}\" is not a valid duration; write 90s, 5m, 1h30m or 500ms", one_line(text)
                )
            );
        }
        if (*duration < range.least || *duration > range.most) {
            throw CLI::ValidationError(
                name,
                fmt::format(
                    "\"{}\" is not within {} to {}",
                    one_line(text),
                    format_duration(range.least),
                    format_duration(range.most)
                )
            );
        }
        target = *duration;
    };
    command->add_option_function<std::string>(name, read, std::move(description))
        ->type_name("DURATION");
}

void CommandLine::add_choice(
    CLI::App* command,
    const std::string& name,
    std::string& target,
    const std::string& description,
    std::vector<std::string> choices
) {
    CLI::Option* option = command->add_option(name, target, description);
    option->check(choice(choices));
    option->type_name(fmt::format("{}", fmt::join(choices, "|")));
    choices_[option] = std::move(choices);
}

void CommandLine::add_request_id(CLI::App* command, std::string& target) {
    command
        ->add_option(
            "--request-id", target, "Repeating the request with the same id changes nothing"
        )
        ->type_name("ID");
}

void CommandLine::add_if_revision(CLI::App* command, std::optional<std::int64_t>& target) {
    command->add_option("--if-revision", target, "Only if the instance still has this revision")
        ->check(within(0, std::numeric_limits<std::int64_t>::max()))
        ->type_name("N");
}

void CommandLine::add_output(CLI::App* command, std::vector<std::string> formats) {
    add_choice(command, "-o,--output", format_, "The format of the result", std::move(formats));
}

void CommandLine::add_times(CLI::App* command, Times& target) {
    const auto read = [&target](const std::string& text) {
        target = text == "utc" ? Times::Utc : text == "local" ? Times::Local : Times::Relative;
    };
    const std::vector<std::string> names{"relative", "local", "utc"};
    CLI::Option* option = command->add_option_function<std::string>(
        "--times", read, "How times are shown (default: relative)"
    );
    option->check(choice(names))->type_name(fmt::format("{}", fmt::join(names, "|")));
    choices_[option] = names;
}

/// `-o` of a command and `--json` of all say the same in two ways.
void CommandLine::read_output() {
    static const std::map<std::string, OutputFormat, std::less<>> kFormats{
        {"", OutputFormat::Table},
        {"wide", OutputFormat::Wide},
        {"name", OutputFormat::Name},
        {"json", OutputFormat::Json},
        {"jsonl", OutputFormat::Jsonl},
        {"yaml", OutputFormat::Yaml},
    };
    const OutputFormat format = kFormats.at(format_);
    const bool is_for_machines = format == OutputFormat::Json || format == OutputFormat::Jsonl ||
                                 format == OutputFormat::Yaml;
    if (global_.is_json && !format_.empty() && !is_for_machines) {
        throw Mistake{
            .message = fmt::format("--json and -o {} cannot be combined.", format_), .hint = {}
        };
    }
    global_.format = global_.is_json && format_.empty() ? OutputFormat::Json : format;
    global_.is_json = global_.is_json || is_for_machines;
}

std::string CommandLine::help() const {
    const auto parsed = app_.get_subcommands();
    if (parsed.empty()) return app_.help();
    CLI::App& command = *parsed.front();
    command.footer(names_instances(command) ? std::string(kAboutInstances) : std::string());
    return command.help("ebb") +
           "\nOptions of all commands: --db URL, --json, --color WHEN, -q, see `ebb --help`.\n";
}

CommandLine::Mistake CommandLine::explain_unknown(const std::string& word) const {
    const auto parsed = app_.get_subcommands();
    if (word.starts_with('-')) {
        const std::string name = word.substr(0, word.find('='));
        std::vector<std::string> names = option_names(app_);
        if (!parsed.empty()) {
            const auto own = option_names(*parsed.front());
            names.insert(names.end(), own.begin(), own.end());
        }
        const std::size_t dashes = std::min(name.find_first_not_of('-'), name.size());
        const std::string bare = name.substr(dashes);
        if (!parsed.empty() && parsed.front()->get_option_no_throw(name) != nullptr) {
            return {
                .message = fmt::format(
                    "{} belongs after the command: `ebb {} {}`.",
                    one_line(name),
                    parsed.front()->get_name(),
                    one_line(name)
                ),
                .hint = {},
            };
        }
        const std::string synonym = option_for(bare);
        const bool is_known = std::find(names.begin(), names.end(), synonym) != names.end();
        const std::string meant = is_known ? synonym : closest(bare, names);
        const std::string of =
            parsed.empty() ? "ebb" : fmt::format("`ebb {}`", parsed.front()->get_name());
        return {
            .message = fmt::format("{} has no option {}.", of, one_line(name)),
            .hint = meant.empty() ? "" : fmt::format("did you mean --{}?", meant),
        };
    }
    if (!parsed.empty()) {
        return {
            .message = fmt::format(
                "`ebb {}` does not expect \"{}\".", parsed.front()->get_name(), one_line(word)
            ),
            .hint = {},
        };
    }
    if (std::find(kServerCommands.begin(), kServerCommands.end(), word) != kServerCommands.end()) {
        return {
            .message =
                fmt::format("This ebb was built without the server: it has no `ebb {}`.", word),
            .hint = "build it with -DEBB_WITH_SERVER=ON",
        };
    }
    const std::string synonym = verb_for(word);
    const std::string meant = synonym.empty() ? closest(word, command_names(app_)) : synonym;
    std::string hint = meant.empty() ? "`ebb --help` lists the commands"
                                     : fmt::format("did you mean `ebb {}`?", meant);
    if (meant.empty() && (word.ends_with(".yaml") || word.ends_with(".yml"))) {
        hint = fmt::format("did you mean `ebb run {}`?", one_line(word));
    }
    return {
        .message = fmt::format("There is no command \"{}\".", one_line(word)),
        .hint = std::move(hint)
    };
}

CommandLine::Mistake CommandLine::explain(const CLI::ParseError& error) const {
    Mistake mistake;
    const auto unknown = app_.remaining(true);
    // `decide ID approve confirm`: the wrong value says more than the word that is left over.
    const bool is_about_value = dynamic_cast<const CLI::ValidationError*>(&error) != nullptr;
    const bool is_word_left = !unknown.empty() && !unknown.front().starts_with('-');
    if (!unknown.empty() && !(is_about_value && is_word_left)) {
        mistake = explain_unknown(unknown.front());
    } else {
        mistake.message = sentence(error.what());
        for (const auto& [option, choices] : choices_) {
            // Several commands have an option of this name.
            const auto commands = app_.get_subcommands();
            const bool is_its = !commands.empty() &&
                                commands.front()->get_option_no_throw(option->get_name()) == option;
            if (!is_its || error.what() != option->get_name() + " is required") continue;
            mistake.message = fmt::format(
                "{} is required: one of {}.", option->get_name(), fmt::join(choices, ", ")
            );
        }
    }
    if (mistake.hint.empty()) {
        const auto parsed = app_.get_subcommands();
        const std::string command = parsed.empty() ? "" : parsed.front()->get_name() + " ";
        mistake.hint = fmt::format("`ebb {}--help` shows how it is used", command);
    }
    return mistake;
}

CommandLine::Request CommandLine::parse(std::span<const std::string> args) {
    args_.assign(args.begin(), args.end());
    std::vector<std::string> words = args_;
    if (!words.empty() && words.front() == "help") {
        words.erase(words.begin());
        const std::vector<std::string> names = command_names(app_);
        const bool is_known = words.empty() || words.front().starts_with('-') ||
                              std::find(names.begin(), names.end(), words.front()) != names.end();
        if (!is_known) throw explain_unknown(words.front());
        words.push_back("--help");
    }
    std::reverse(words.begin(), words.end());
    try {
        app_.parse(words);
    } catch (const CLI::CallForHelp&) {
        return {.global = global_, .action = {}, .text = help()};
    } catch (const CLI::ParseError& error) {
        throw explain(error);
    }
    global_.color = color_ == "always"  ? ColorMode::Always
                    : color_ == "never" ? ColorMode::Never
                                        : ColorMode::Auto;
    read_output();
    if (!action_)
        throw Mistake{
            .message = "A command is missing.", .hint = "these are the commands:\n\n" + app_.help()
        };
    return {.global = global_, .action = action_, .text = {}};
}

std::vector<CommandInfo> CommandLine::describe() const {
    std::vector<CommandInfo> commands;
    const auto describe_one = [&](const CLI::App& app, std::string name) {
        CommandInfo info{.name = std::move(name), .description = app.get_description()};
        for (const CLI::Option* option : app.get_options()) {
            OptionInfo described = describe_option(*option);
            const auto choices = choices_.find(option);
            if (choices != choices_.end()) described.choices = choices->second;
            info.options.push_back(std::move(described));
        }
        commands.push_back(std::move(info));
    };
    describe_one(app_, "");
    for (const CLI::App* command : app_.get_subcommands([](const CLI::App*) { return true; })) {
        // A command without a group is for scripts and hidden.
        if (!command->get_group().empty()) describe_one(*command, command->get_name());
    }
    return commands;
}

std::vector<CommandInfo> describe_commands() {
    return CommandLine().describe();
}

}  // namespace ebb::cli
