// The commands about workers and queues.

#include "cli/app.h"

namespace ebb::cli {

void CommandLine::add_workers() {
    add_command("workers", "List the workers, and what no worker can run", list_workers)
        ->group("Look");
}

void CommandLine::add_queue() {
    CLI::App* queue =
        add_command("queue", "Show the queues, and set their limits", [this](Session& s) {
            return manage_queues(s, queue_);
        });
    queue->group("Steer");
    add_choice(
        queue,
        "ACTION",
        queue_.action,
        "What to do (default: list)",
        {"list", "show", "set", "clear"}
    );
    queue->add_option("NAME", queue_.name, "The queue");
    queue
        ->add_option(
            "--concurrency",
            queue_.concurrency,
            "set: so many of its tasks run at once; 0 = none, or none = no limit"
        )
        ->type_name("N");
    queue
        ->add_option(
            "--concurrency-per-key",
            queue_.concurrency_per_key,
            "set: the same for each concurrency_key; or none"
        )
        ->type_name("N");
    queue
        ->add_option(
            "--rate", queue_.rate, "set: so many starts in a time, such as 100/1m; or none"
        )
        ->type_name("N/DURATION");
}

}  // namespace ebb::cli
