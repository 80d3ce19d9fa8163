// The commands about workers and queues.

#include "cli/app.h"

namespace ebb::cli {

void CommandLine::add_workers() {
    add_command("workers", "List the workers, and what no worker can run", list_workers)
        ->group("Look");
}

void CommandLine::add_overview() {
    CLI::App* stats = add_command("stats", "Count instances, workers and tasks", print_stats);
    stats->group("Look");
    add_output(stats, {"json", "jsonl", "yaml"});

    CLI::App* top =
        add_command("top", "Watch the live instances, problems first", [this](Session& s) {
            return show_top(s, top_);
        });
    top->group("Look");
    constexpr DurationRange kEvery{
        .least = std::chrono::milliseconds(100), .most = std::chrono::hours(1)
    };
    add_duration(top, "--every", top_.every, "How often to look (2s)", kEvery);
    top->add_flag("--once", top_.is_once, "Look only once");

    CLI::App* doctor =
        add_command("doctor", "Find what is wrong with a deployment", examine_deployment);
    doctor->group("Other");
    add_output(doctor, {"json", "jsonl", "yaml"});
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
