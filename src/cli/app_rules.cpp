// The command about workflows with rules.

#include <limits>

#include "cli/app.h"

namespace ebb::cli {

void CommandLine::add_rules() {
    CLI::App* rules =
        add_command("rules", "Check, compare and import workflows with rules", [this](Session& s) {
            return handle_rules(s, rules_);
        });
    rules->group("Workflows");
    add_choice(
        rules,
        "ACTION",
        rules_.action,
        "What to do",
        {"check", "diff", "view", "install", "uninstall", "import-wed", "wsql"}
    );
    rules->add_option(
        "SUBJECT",
        rules_.subjects,
        "check: a file, or NAME[@VERSION] of the database. wsql: a file. diff: the old and the "
        "new one: files, or NAME@VERSION. view, install, uninstall: a workflow. import-wed: the "
        "URL of a database of WED-SQL"
    );
    rules
        ->add_option(
            "-i,--input",
            rules_.starts,
            "check: instances start with this input: JSON, @FILE, or - (repeatable; default: any)"
        )
        ->allow_extra_args(false)
        ->type_name("JSON");
    constexpr std::int64_t kStatesMax = 1'000'000;
    constexpr std::int64_t kExploredMax = 100'000;
    rules->add_option("--states", rules_.states, "check: Search at most this many states (1000000)")
        ->check(within(1, kStatesMax))
        ->type_name("N");
    rules
        ->add_option(
            "--explore",
            rules_.explored,
            "check: Also play every order of transitions, up to N states"
        )
        ->check(within(1, kExploredMax))
        ->type_name("N");
    rules->add_flag("--strict", rules_.is_strict, "check: Warnings count as errors");
    constexpr std::int64_t kInstancesMax = 1'000'000;
    rules
        ->add_option(
            "--limit", rules_.limit, "diff: Examine at most this many live instances of --db (1000)"
        )
        ->check(within(1, kInstancesMax))
        ->type_name("N");
    add_rules_surface(rules);
    rules->add_option("--name", rules_.name, "import-wed, wsql: The name of the workflow")
        ->type_name("NAME");
    rules->add_option("--schema", rules_.schema, "import-wed: Where the tables are (public)")
        ->type_name("NAME");
    rules->add_flag(
        "--create",
        rules_.creates,
        "import-wed: Make the flow in --db, with its instances, instead of printing it"
    );
    add_choice(rules, "-f,--format", rules_.format, "Default: text", {"text", "json"});
}

void CommandLine::add_rules_surface(CLI::App* rules) {
    add_choice(
        rules,
        "--dialect",
        rules_.dialect,
        "install: ebb, or wed: an UPDATE needs a claim, and what fires is notified (ebb)",
        {"ebb", "wed"}
    );
    rules
        ->add_option(
            "--role",
            rules_.role,
            "install: A role that may start, write, work and recover; the schema becomes the first "
            "of its search_path"
        )
        ->type_name("NAME");
    rules->add_flag("--yes", rules_.is_confirmed, "uninstall: Do it");
}

}  // namespace ebb::cli
