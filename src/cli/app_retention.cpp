// The commands about how long instances are kept.

#include "cli/app.h"

namespace ebb::cli {

void CommandLine::add_retention() {
    CLI::App* retention =
        add_command("retention", "Show and set how long instances are kept", [this](Session& s) {
            return manage_retention(s, retention_);
        });
    retention->group("Control");
    add_choice(
        retention,
        "ACTION",
        retention_.action,
        "What to do (default: list)",
        {"list", "set", "clear"}
    );
    retention->add_option(
        "WORKFLOW", retention_.workflow, "The workflow to set or clear, or '*' for all others"
    );
    retention->add_option(
        "KEPT", retention_.kept, "How long to keep its instances, such as 30d, or forever"
    );
    retention
        ->add_option("--completed", retention_.completed, "How long to keep the completed ones")
        ->type_name("DURATION");
    retention
        ->add_option(
            "--failed", retention_.failed, "How long to keep the failed, cancelled and aborted ones"
        )
        ->type_name("DURATION");
}

void CommandLine::add_purge() {
    CLI::App* purge =
        add_command("purge", "Delete ended instances that need not be kept", [this](Session& s) {
            return purge_instances(s, purge_);
        });
    purge->group("Control");
    purge->add_option("-w,--workflow", purge_.workflow, "Only of this workflow")->type_name("NAME");
    purge
        ->add_option_function<std::string>(
            "--older-than",
            [this](const std::string& text) { purge_.older_than = text; },
            "Delete all that ended this long ago, whatever the rules say"
        )
        ->type_name("DURATION");
    purge->add_flag("--dry-run", purge_.is_dry_run, "Only count what would be deleted");
}

}  // namespace ebb::cli
