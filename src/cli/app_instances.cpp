// The commands about instances.

#include <limits>

#include "cli/app.h"

namespace ebb::cli {

namespace {

const std::vector<std::string> kStatuses{
    "running",
    "paused",
    "compensating",
    "dead_letter",
    "moved",
    "completed",
    "failed",
    "cancelled",
    "aborted",
    "waiting",
};

constexpr int kListMax = 100'000;
constexpr std::int64_t kBulkMax = 1'000'000'000;
constexpr int kHistoryMax = 1'000'000;

}  // namespace

void CommandLine::add_list() {
    CLI::App* list = add_command("list", "List instances", [this](Session& s) {
        return list_instances(s, list_);
    });
    list->group("Inspect");
    CLI::Option* status = list->add_option(
        "-s,--status", list_.statuses, "Only in these statuses, separated by commas"
    );
    status->delimiter(',')->allow_extra_args(false)->type_name("STATUS,...");
    choices_[status] = kStatuses;
    list->add_option("-w,--workflow", list_.workflow, "Only of this workflow")->type_name("NAME");
    list->add_option("--version", list_.version, "Only of this version")
        ->check(within(1, DefinitionLimits::kVersionMax))
        ->type_name("N");
    list->add_option("--key", list_.key, "Only with this key")->type_name("KEY");
    list->add_option("--before", list_.before, "Only those started before this one")
        ->type_name("INSTANCE");
    list->add_option("--after", list_.after, "Only those started after this one")
        ->type_name("INSTANCE");
    list->add_option("--since", list_.since, "Only those started since: 2h, today, a date or time")
        ->type_name("TIME");
    list->add_option("--until", list_.until, "Only those started before this time")
        ->type_name("TIME");
    add_choice(
        list,
        "--waiting",
        list_.waiting,
        "Only those that wait for this",
        {"any", "person", "decision", "signal", "timer", "retry", "worker", "queue", "operator"}
    );
    list->add_option("--error", list_.error, "Only those whose error contains this text")
        ->type_name("TEXT");
    list->add_option("--handler", list_.handler, "Only those at a step with this handler")
        ->type_name("NAME");
    list->add_option("--where", list_.where, "Only those that match this filter")
        ->type_name("FILTER");
    add_choice(
        list,
        "--sort",
        list_.sort,
        "The newest first (-created), or the oldest (created)",
        {"-created", "created"}
    );
    add_times(list, list_.times);
    add_watch(list, list_.watches, list_.every);
    add_output(list, {"json", "jsonl", "yaml", "wide", "name"});
    list->add_option("-n,--limit", list_.limit, "At most this many (20)")
        ->check(within(1, kListMax))
        ->type_name("N");
    list->add_flag("--ids", list_.only_ids, "Only their ids, one per line");
}

void CommandLine::add_count() {
    CLI::App* count = add_command("count", "Count instances", [this](Session& s) {
        return count_instances(s, count_);
    });
    count->group("Inspect");
    count->add_option("--where", count_.where, "Only those that match this filter")
        ->type_name("FILTER");
    count->add_option("-w,--workflow", count_.workflow, "Only of this workflow")->type_name("NAME");
    CLI::Option* by = count->add_option("--by", count_.by, "One count for each: status, workflow");
    by->delimiter(',')->allow_extra_args(false)->type_name("WORD,...");
    choices_[by] = {"status", "workflow"};
    add_output(count, {"json", "jsonl", "yaml"});
}

void CommandLine::add_bulk(CLI::App* command, BulkOptions& bulk) {
    CLI::Option* where =
        command->add_option("--where", bulk.where, "All instances that match this filter");
    where->type_name("FILTER");
    command->get_option("INSTANCE")->required(false)->excludes(where);
    command->add_flag("--dry-run", bulk.is_dry_run, "With --where: only show which instances match")
        ->needs(where);
    command->add_flag("--yes", bulk.is_confirmed, "With --where: do it")->needs(where);
    command->add_option("--rate", bulk.rate, "With --where: at most this many, such as 100/1s")
        ->type_name("N/TIME")
        ->needs(where);
    CLI::Option* limit =
        command->add_option("--limit", bulk.limit, "With --where: at most this many instances");
    limit->check(within(1, kBulkMax))->type_name("N")->needs(where);
    command
        ->add_flag("--detach", bulk.is_detached, "With --where: let `ebb serve` do it, and return")
        ->needs(where)
        ->excludes(limit, command->get_option("--dry-run"));
}

void CommandLine::add_reading() {
    CLI::App* show = add_command("show", "Show an instance as a timeline", [this](Session& s) {
        return show_instance(s, show_);
    });
    show->group("Inspect");
    add_instances(show, show_.instances);
    show->add_flag("--payloads", show_.with_payloads, "With the steps' whole inputs and outputs");
    show->add_flag("--all", show_.is_whole, "All turns of loops");
    add_times(show, show_.times);
    add_watch(show, show_.watches, show_.every);
    add_output(show, {"json", "jsonl", "yaml", "wide"});

    CLI::App* history = add_command("history", "Print an instance's events", [this](Session& s) {
        return show_history(s, history_);
    });
    history->group("Inspect");
    add_instance(history, history_.instance);
    history->add_option("--after", history_.after, "Only events after this number")
        ->check(within(0, std::numeric_limits<std::int64_t>::max()))
        ->type_name("SEQ");
    history->add_option("-n,--limit", history_.limit, "At most this many (default: all)")
        ->check(within(1, kHistoryMax))
        ->type_name("N");
    history->add_flag("--payloads", history_.with_payloads, "With whole payloads");
    history->add_flag(
        "-f,--follow,--watch", history_.follows, "Keep printing new events until the end"
    );
    add_times(history, history_.times);
    add_output(history, {"json", "jsonl", "yaml", "wide"});

    CLI::App* why =
        add_command("why", "Say what an instance waits for, or why it ended", [this](Session& s) {
            return explain_instances(s, instances_);
        });
    why->group("Inspect");
    add_instances(why, instances_);
    add_output(why, {"json", "jsonl", "yaml"});
}

void CommandLine::add_wait() {
    CLI::App* wait = add_command("wait", "Wait until an instance has ended", [this](Session& s) {
        return wait_for_instance(s, wait_);
    });
    wait->group("Inspect");
    add_instance(wait, wait_.instance);
    add_duration(wait, "--timeout", wait_.timeout, "Give up after this time (default: never)");
}

void CommandLine::add_steering() {
    struct Verb {
        const char* name;
        const char* description;
        int (*action)(Session&, const SteerOptions&);
        bool has_reason;
    };

    const Verb verbs[] = {
        {"cancel", "Stop an instance and compensate all that it did", cancel_instance, true},
        {"abort", "Stop an instance without compensating", abort_instance, true},
        {"pause",
         "Keep an instance from starting anything until it is resumed",
         pause_instance,
         true},
        {"resume", "Let a paused instance continue", resume_instance, false},
        {"rematch", "Check all conditions of an instance with rules again", rematch_instance, false
        },
    };
    for (const Verb& verb : verbs) {
        CLI::App* command =
            add_command(verb.name, verb.description, [this, action = verb.action](Session& s) {
                return action(s, steer_);
            });
        command->group("Control");
        add_instances(command, steer_.instances);
        add_bulk(command, steer_.bulk);
        command
            ->add_option("--by", steer_.by, "The name to record as the requester (default: $USER)")
            ->type_name("NAME");
        add_if_revision(command, steer_.if_revision);
        if (!verb.has_reason) continue;
        command->add_option("--reason", steer_.reason, "Why, for the history")->type_name("TEXT");
    }
}

void CommandLine::add_decide() {
    CLI::App* decide = add_command("decide", "Confirm or reject a decision", [this](Session& s) {
        return decide_instance(s, decide_);
    });
    decide->group("Control");
    add_instance(decide, decide_.instance);
    add_choice(decide, "VERDICT", decide_.verdict, "confirm or reject", {"confirm", "reject"});
    decide->get_option("VERDICT")->required();
    decide->add_option("--by", decide_.by, "Who decides (default: $USER)")->type_name("NAME");
    decide->add_option("--role", decide_.role, "In which role")->type_name("ROLE");
    decide->add_option("--comment", decide_.comment, "Why, for the history")->type_name("TEXT");
    decide->add_option("--node", decide_.node, "Which decision, if there are several")
        ->type_name("NAME");
    add_request_id(decide, decide_.request_id);
    add_if_revision(decide, decide_.if_revision);
}

void CommandLine::add_signal() {
    CLI::App* signal = add_command("signal", "Send a signal to an instance", [this](Session& s) {
        return signal_instance(s, signal_);
    });
    signal->group("Control");
    add_instance(signal, signal_.instance);
    signal->add_option("NAME", signal_.name, "The signal's name")->required();
    signal
        ->add_option("-p,--payload", signal_.payload, "JSON, @FILE, or - for stdin (default: null)")
        ->type_name("JSON");
    signal->add_option("--by", signal_.by, "Who sends it (default: $USER)")->type_name("NAME");
    add_request_id(signal, signal_.request_id);
    add_if_revision(signal, signal_.if_revision);
}

/// For instances with rules.
void CommandLine::add_attributes() {
    add_write();
    add_trace();
    add_recover();
}

void CommandLine::add_write() {
    CLI::App* write =
        add_command("write", "Write attributes of an instance with rules", [this](Session& s) {
            return write_attributes(s, write_);
        });
    write->group("Control");
    add_instance(write, write_.instance);
    write->add_option("ATTRIBUTE", write_.assignments, "NAME=VALUE, or NAME:=JSON");
    write->add_option("-i,--values", write_.values, "A JSON object of attributes, @FILE, or -")
        ->type_name("JSON");
    write->add_flag("--repair", write_.is_repair, "As an operator: any attribute");
    write->add_option("--by", write_.by, "Who writes (default: $USER)")->type_name("NAME");
    add_request_id(write, write_.request_id);
    add_if_revision(write, write_.if_revision);
}

void CommandLine::add_recover() {
    CLI::App* recover = add_command(
        "recover",
        "Take an instance with rules back to one of its writes",
        [this](Session& s) { return recover_instance(s, recover_); }
    );
    recover->group("Control");
    add_instance(recover, recover_.instance);
    recover
        ->add_option(
            "--to", recover_.to, "The number of the write's event, as `ebb trace` prints it"
        )
        ->check(within(1, std::numeric_limits<std::int64_t>::max()))
        ->type_name("SEQ")
        ->required();
    add_choice(
        recover,
        "--then",
        recover_.then,
        "What follows: rematch checks all conditions, stop waits for an operator (default: "
        "rematch)",
        {"rematch", "stop"}
    );
    recover->add_flag("--dry-run", recover_.is_dry_run, "Only print what would be done");
    recover->add_option("--by", recover_.by, "The name to record as the requester (default: $USER)")
        ->type_name("NAME");
    add_request_id(recover, recover_.request_id);
    add_if_revision(recover, recover_.if_revision);
}

void CommandLine::add_trace() {
    CLI::App* trace = add_command(
        "trace",
        "Print what each write of an instance with rules did",
        [this](Session& s) { return show_trace(s, trace_); }
    );
    trace->group("Inspect");
    add_instance(trace, trace_.instance);
    trace->add_option("--at", trace_.at, "Only the attributes as they were at this event")
        ->check(within(1, std::numeric_limits<std::int64_t>::max()))
        ->type_name("SEQ");
    trace->add_option("--after", trace_.after, "Only writes after this event")
        ->check(within(0, std::numeric_limits<std::int64_t>::max()))
        ->type_name("SEQ");
    trace->add_option("-n,--limit", trace_.limit, "At most this many (default: all)")
        ->check(within(1, kHistoryMax))
        ->type_name("N");
    add_times(trace, trace_.times);
    add_output(trace, {"json", "jsonl", "yaml", "wide"});
}

void CommandLine::add_requeue() {
    CLI::App* requeue =
        add_command("requeue", "Let a dead-lettered instance try again", [this](Session& s) {
            return requeue_instance(s, requeue_);
        });
    requeue->group("Control");
    CLI::Option* instances = requeue->add_option(
        "INSTANCE", requeue_.instances, "Ids or parts of them, @1, or key:WORKFLOW/KEY; several"
    );
    requeue
        ->add_option(
            "--group", requeue_.group, "All dead-lettered instances of a group of `ebb failures`"
        )
        ->type_name("GROUP")
        ->excludes(instances);
    add_bulk(requeue, requeue_.bulk);
    requeue->get_option("--group")->excludes(requeue->get_option("--where"));
    requeue
        ->add_option("-i,--input", requeue_.input, "New input of the failed step: JSON, @FILE or -")
        ->type_name("JSON");
    requeue->add_flag(
        "--skip-compensation", requeue_.skip_compensation, "Skip the compensation that failed"
    );
    requeue->add_option("--by", requeue_.by, "The name to record as the requester (default: $USER)")
        ->type_name("NAME");
    add_if_revision(requeue, requeue_.if_revision);
}

void CommandLine::add_result() {
    CLI::App* result = add_command("result", "Print the output of an instance", [this](Session& s) {
        return print_result(s, result_);
    });
    result->group("Inspect");
    add_instance(result, result_.instance);
    add_output(result, {"json", "jsonl", "yaml"});
}

void CommandLine::add_rerun() {
    CLI::App* rerun = add_command(
        "rerun",
        "Start the work of an instance again, as a new one",
        [this](Session& s) { return rerun_instance(s, rerun_); }
    );
    rerun->group("Run");
    add_instance(rerun, rerun_.instance);
    rerun->add_option("-i,--input", rerun_.input, "Another input: JSON, @FILE, or - for stdin")
        ->type_name("JSON");
    rerun->add_option("--key", rerun_.key, "A key for the new instance")->type_name("KEY");
    rerun->add_option("--version", rerun_.version, "Which version (default: the newest)")
        ->check(within(1, DefinitionLimits::kVersionMax))
        ->type_name("N");
    rerun->add_option("--by", rerun_.by, "Who starts it (default: $USER)")->type_name("NAME");
    CLI::Option* wait =
        rerun->add_flag("--wait", rerun_.waits, "Wait for its end, as `ebb wait` does");
    add_duration(rerun, "--timeout", rerun_.timeout, "Of --wait: give up after this time");
    rerun->get_option("--timeout")->needs(wait);
    add_bulk(rerun, rerun_.bulk);
    // Each starts with its own input, once, on the newest version.
    for (const char* option : {"--input", "--key", "--version", "--wait"}) {
        rerun->get_option("--where")->excludes(rerun->get_option(option));
    }
}

void CommandLine::add_transfer() {
    CLI::App* out =
        add_command("export", "Move an instance out, as a snapshot in JSON", [this](Session& s) {
            return export_instance(s, export_);
        });
    out->group("Control");
    add_instance(out, export_.instance);
    out->add_option("-o,--output", export_.output, "Write to this file (default: stdout)")
        ->type_name("FILE");
    add_duration(
        out, "--wait", export_.wait, "How long running handlers may take (default: refuse)"
    );
    out->add_option("--by", export_.by, "The name to record as the requester (default: $USER)")
        ->type_name("NAME");

    CLI::App* in = add_command("import", "Continue a snapshot here", [this](Session& s) {
        return import_snapshot(s, import_);
    });
    in->group("Control");
    in->add_option("FILE", import_.file, "The snapshot, or - for stdin")->required();
    in->add_option("-w,--workflow", import_.workflow, "Register this workflow's file first")
        ->type_name("FILE");
    in->add_option("--by", import_.by, "The name to record as the requester (default: $USER)")
        ->type_name("NAME");
}

}  // namespace ebb::cli
