// The commands about workers and queues.

#include <memory>

#include "cli/activity_source.h"
#include "cli/app.h"
#include "view/delayed.h"

namespace ebb::cli {

void CommandLine::add_workers() {
    add_command("workers", "List the workers, and what no worker can run", list_workers)
        ->group("Inspect");
}

void CommandLine::add_overview() {
    // Only this command has them, so they live with it.
    const auto options = std::make_shared<ActivityOptions>();
    CLI::App* stats =
        add_command("stats", "Count instances, workers and tasks", [options](Session& s) {
            return options->is_wanted ? print_activity(s, *options) : print_stats(s);
        });
    stats->group("Inspect");
    auto* activity = stats->add_flag(
        "--activity", options->is_wanted, "Show what started and ended, and how long it took"
    );
    constexpr DurationRange kWindow{
        .least = view::kActivityLevels.front().step, .most = view::ActivityQuery::kWindowMax
    };
    add_duration(
        stats, "--window", options->query.window, "How far back the activity goes (24h)", kWindow
    );
    add_duration(
        stats, "--step", options->step, "The width of a bar: 1m, 5m, 30m, 3h or 12h", kWindow
    );
    stats->add_option("-w,--workflow", options->query.workflow, "Only of this workflow")
        ->type_name("NAME")
        ->needs(activity);
    for (const char* name : {"--window", "--step"}) stats->get_option(name)->needs(activity);
    add_output(stats, {"json", "jsonl", "yaml"});

    CLI::App* top =
        add_command("top", "Watch the live instances, problems first", [this](Session& s) {
            return show_top(s, top_);
        });
    top->group("Inspect");
    constexpr DurationRange kEvery{
        .least = std::chrono::milliseconds(100), .most = std::chrono::hours(1)
    };
    add_duration(top, "--every", top_.every, "The time between refreshes (2s)", kEvery);
    top->add_flag("--once", top_.is_once, "Print once and exit");
}

void CommandLine::add_doctor() {
    CLI::App* doctor =
        add_command("doctor", "Find what is wrong with a deployment", examine_deployment);
    doctor->group("Other");
    add_output(doctor, {"json", "jsonl", "yaml"});
}

void CommandLine::add_triage() {
    CLI::App* decisions = add_command(
        "decisions",
        "List the decisions that are awaited, the longest wait first",
        [this](Session& s) { return list_decisions(s, decisions_); }
    );
    decisions->group("Inspect");
    decisions
        ->add_option(
            "--role", decisions_.roles, "Only what these roles may decide, separated by commas"
        )
        ->delimiter(',')
        ->allow_extra_args(false)
        ->type_name("ROLE,...");
    decisions->add_option("-w,--workflow", decisions_.workflow, "Only of this workflow")
        ->type_name("NAME");
    decisions->add_option("-n,--limit", decisions_.limit, "At most this many (100)")
        ->check(within(1, DecisionQuery::kLimitMax))
        ->type_name("N");
    add_times(decisions, decisions_.times);
    add_output(decisions, {"json", "jsonl", "yaml", "wide"});

    CLI::App* delayed = add_command(
        "delayed",
        "List the tasks that should run and that no worker starts, and why",
        [this](Session& s) { return list_delayed(s, delayed_); }
    );
    delayed->group("Inspect");
    delayed->add_option("-w,--workflow", delayed_.workflow, "Only of this workflow")
        ->type_name("NAME");
    delayed->add_option("-n,--limit", delayed_.limit, "At most this many rows (100)")
        ->check(within(1, view::Delayed::kGroupsMax))
        ->type_name("N");
    add_times(delayed, delayed_.times);
    add_output(delayed, {"json", "jsonl", "yaml", "wide"});

    CLI::App* failures = add_command(
        "failures",
        "List the causes of failures, the most frequent first",
        [this](Session& s) { return list_failures(s, failures_); }
    );
    failures->group("Inspect");
    failures->add_option("--group", failures_.group, "List the instances of this group")
        ->type_name("GROUP");
    failures->add_option("-w,--workflow", failures_.workflow, "Only of this workflow")
        ->type_name("NAME");
    add_choice(
        failures, "--status", failures_.status, "Only with this status", {"dead_letter", "failed"}
    );
    failures->add_option("-n,--limit", failures_.limit, "At most this many (100)")
        ->check(within(1, FailureQuery::kLimitMax))
        ->type_name("N");
    add_times(failures, failures_.times);
    add_output(failures, {"json", "jsonl", "yaml", "wide"});
}

void CommandLine::add_queue() {
    CLI::App* queue =
        add_command("queue", "Show the queues, and set their limits", [this](Session& s) {
            return manage_queues(s, queue_);
        });
    queue->group("Control");
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
            "set: how many of its tasks may run at once; 0 = none, `none` = no limit"
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
            "--rate", queue_.rate, "set: how many starts in a period, such as 100/1m; or none"
        )
        ->type_name("N/DURATION");
}

void CommandLine::add_webhook() {
    CLI::App* webhook = add_command(
        "webhook",
        "List, set, test and delete webhooks, which send events by HTTP",
        [this](Session& s) { return manage_webhooks(s, webhook_, delivery_); }
    );
    webhook->group("Control");
    add_choice(
        webhook,
        "ACTION",
        webhook_.action,
        "What to do (default: list)",
        {"list", "show", "put", "delete", "ping", "rotate", "deliveries", "redeliver"}
    );
    webhook->add_option("NAME", webhook_.name, "The webhook");
    webhook->add_option("DELIVERY", delivery_.delivery, "redeliver: the id of the delivery");
    webhook->add_option("--url", webhook_.url, "put: where its events are sent")->type_name("URL");
    add_choice(
        webhook,
        "--format",
        webhook_.format,
        "put: what is sent (standard)",
        {"standard", "cloudevents", "slack", "teams", "email"}
    );
    const auto add_list =
        [&](const char* name, std::vector<std::string>& target, const char* about, const char* type
        ) {
            webhook->add_option(name, target, about)
                ->type_name(type)
                ->delimiter(',')
                ->allow_extra_args(false);
        };
    add_list(
        "--events",
        webhook_.events,
        "put: only these, such as instance.failed or step.*",
        "EVENT,..."
    );
    add_list("--workflows", webhook_.workflows, "put: only of these, with *", "NAME,...");
    webhook
        ->add_option(
            "--where", delivery_.where, "put: only of instances for which this filter holds"
        )
        ->type_name("FILTER");
    webhook
        ->add_option(
            "--secret-file", webhook_.secret_file, "put: signs with the secret in this file"
        )
        ->type_name("FILE");
    webhook->add_flag("--payload", delivery_.has_payload, "put: send payloads, too, redacted");
    webhook->add_flag("--disabled", webhook_.is_disabled, "put: keep it, but send nothing");
    add_choice(
        webhook,
        "--status",
        delivery_.status,
        "deliveries: only these",
        {"pending", "retrying", "delivered", "skipped", "dead_letter", "stopped"}
    );
    webhook->add_option("--limit", delivery_.limit, "deliveries: at most this many (20)")
        ->type_name("N")
        ->check(within(1, 1'000));
    add_duration(
        webhook,
        "--keep-old",
        webhook_.keep_old,
        "rotate: how long the old secret also signs (24h)",
        {.least = Duration::zero(), .most = std::chrono::hours(24 * 30)}
    );
}

}  // namespace ebb::cli
