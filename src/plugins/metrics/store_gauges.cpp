#include "plugins/metrics/store_gauges.h"

#include <algorithm>
#include <map>

namespace ebb::metrics {

namespace {

/// Reading the store may take this part of the time: one in so many.
constexpr int kShare = 20;
/// Of decisions that are awaited, at most this many are counted.
constexpr std::size_t kDecisionsMax = 10'000;

Metric gauge(const char* name, const char* help) {
    return {.name = name, .help = help, .kind = Metric::Kind::Gauge};
}

void add(Metric& metric, std::vector<std::pair<std::string, std::string>> labels, double value) {
    metric.values.push_back({std::move(labels), value});
}

void add_instances(Engine& reader, std::vector<Metric>& metrics) {
    Metric live = gauge("ebb_instances", "Instances that have not ended, by status.");
    Metric dead = gauge("ebb_dead_letters", "Instances that wait for an operator.");
    for (const InstanceCount& count : reader.stats()) {
        if (is_terminal(count.status) || count.status == InstanceStatus::Moved) continue;
        const auto value = static_cast<double>(count.count);
        add(live,
            {{"workflow", count.workflow}, {"status", std::string(to_string(count.status))}},
            value);
        if (count.status == InstanceStatus::DeadLetter) {
            add(dead, {{"workflow", count.workflow}}, value);
        }
    }
    metrics.push_back(std::move(live));
    metrics.push_back(std::move(dead));
}

void add_decisions(Engine& reader, TimePoint now, std::vector<Metric>& metrics) {
    struct Waiting {
        double count = 0;
        Duration oldest{0};
    };

    std::map<std::string, Waiting> waiting;
    std::size_t seen = 0;
    DecisionQuery query{.limit = DecisionQuery::kLimitMax};
    while (seen < kDecisionsMax) {
        const auto page = reader.decisions(query);
        for (const AwaitedDecision& decision : page) {
            Waiting& of = waiting[decision.workflow];
            ++of.count;
            of.oldest = std::max(of.oldest, now - decision.since);
        }
        seen += page.size();
        if (page.size() < static_cast<std::size_t>(query.limit)) break;
        query.after = page.back().place();
    }
    Metric count = gauge("ebb_decisions_waiting", "Decisions of people that are awaited.");
    Metric age = gauge(
        "ebb_decision_age_seconds_max", "Age of the decision that has been awaited the longest."
    );
    for (const auto& [workflow, of] : waiting) {
        add(count, {{"workflow", workflow}}, of.count);
        add(age, {{"workflow", workflow}}, std::chrono::duration<double>(of.oldest).count());
    }
    metrics.push_back(std::move(count));
    metrics.push_back(std::move(age));
}

void add_queues(Engine& reader, std::vector<Metric>& metrics) {
    Metric tasks = gauge("ebb_tasks", "Tasks of steps by queue: running, waiting or sleeping.");
    Metric used = gauge("ebb_queue_slots_used", "How many of a queue's slots are in use.");
    Metric limit = gauge("ebb_queue_slots_limit", "How many tasks of a queue may run at once.");
    Metric starts = gauge("ebb_queue_rate_used", "Starts of a queue's rate that are used up now.");
    for (const QueueView& queue : reader.queues()) {
        const auto add_tasks = [&](const char* state, std::int64_t count) {
            add(tasks, {{"queue", queue.name}, {"state", state}}, static_cast<double>(count));
        };
        add_tasks("running", queue.running);
        add_tasks("waiting", queue.waiting);
        add_tasks("sleeping", queue.sleeping);
        if (queue.limits.concurrency) {
            add(used, {{"queue", queue.name}}, static_cast<double>(queue.slots));
            add(limit, {{"queue", queue.name}}, *queue.limits.concurrency);
        }
        if (queue.limits.rate) {
            add(starts, {{"queue", queue.name}}, static_cast<double>(queue.starts));
        }
    }
    Metric unserved = gauge("ebb_tasks_unserved", "Due tasks that no live worker can run.");
    for (const UnservedTasks& of : reader.unserved()) {
        add(unserved, {{"handler", of.handler}, {"queue", of.queue}}, static_cast<double>(of.count)
        );
    }
    for (Metric* metric : {&tasks, &used, &limit, &starts, &unserved}) {
        metrics.push_back(std::move(*metric));
    }
}

void add_workers(Engine& reader, std::vector<Metric>& metrics) {
    double alive = 0;
    double draining = 0;
    double dead = 0;
    for (const WorkerView& worker : reader.workers()) {
        ++(!worker.is_alive ? dead : worker.is_draining ? draining : alive);
    }
    Metric workers = gauge("ebb_workers", "Workers that share the store.");
    add(workers, {{"state", "alive"}}, alive);
    add(workers, {{"state", "draining"}}, draining);
    add(workers, {{"state", "dead"}}, dead);
    metrics.push_back(std::move(workers));
}

}  // namespace

std::vector<Metric> StoreGauges::read() {
    std::vector<Metric> metrics;
    Metric up = gauge("ebb_store_up", "Whether the store could be read for these metrics.");
    try {
        add_instances(reader_, metrics);
        add_decisions(reader_, clock_.now(), metrics);
        add_queues(reader_, metrics);
        add_workers(reader_, metrics);
        add(up, {}, 1);
    } catch (const std::exception&) {
        // Old numbers would look like new ones.
        metrics.clear();
        add(up, {}, 0);
    }
    metrics.push_back(std::move(up));
    return metrics;
}

std::vector<Metric> StoreGauges::collect() {
    const SteadyPoint begun = clock_.steady_now();
    if (!last_.empty() && begun < next_read_) return last_;
    last_ = read();
    const SteadyPoint ended = clock_.steady_now();
    next_read_ = ended + std::max(pause_, (ended - begun) * kShare);
    return last_;
}

std::vector<Metric> engine_metrics(const std::vector<const Engine*>& engines) {
    EngineCounters counters;
    for (const Engine* engine : engines) {
        const EngineCounters more = engine->counters();
        counters.commits += more.commits;
        counters.conflicts += more.conflicts;
        counters.claims += more.claims;
        counters.tasks_claimed += more.tasks_claimed;
        counters.leases_lost += more.leases_lost;
        counters.mail_received += more.mail_received;
        counters.mail_refused += more.mail_refused;
        counters.mail_dropped += more.mail_dropped;
        counters.in_flight += more.in_flight;
        counters.stuck_handlers += more.stuck_handlers;
    }
    std::vector<Metric> metrics;
    const auto counter = [&](const char* name, const char* help, std::uint64_t value) {
        metrics.push_back(
            {.name = name,
             .help = help,
             .kind = Metric::Kind::Counter,
             .values = {{.value = static_cast<double>(value)}}}
        );
    };
    counter("ebb_commits_total", "Transactions that wrote instances.", counters.commits);
    counter(
        "ebb_commit_conflicts_total",
        "Changes that were decided again, because another process was faster.",
        counters.conflicts
    );
    counter("ebb_claims_total", "Looks for due tasks.", counters.claims);
    counter("ebb_tasks_claimed_total", "Tasks that were taken by them.", counters.tasks_claimed);
    counter("ebb_leases_lost_total", "Leases that another worker took away.", counters.leases_lost);
    counter(
        "ebb_mail_received_total",
        "Requests from transactions and from SQL that were decided.",
        counters.mail_received
    );
    counter(
        "ebb_mail_refused_total",
        "Those of them that were not possible any more.",
        counters.mail_refused
    );
    counter(
        "ebb_mail_dropped_total", "Those whose instance had ended first.", counters.mail_dropped
    );
    Metric held = gauge("ebb_tasks_held", "Tasks that this worker holds.");
    add(held, {}, counters.in_flight);
    Metric stuck =
        gauge("ebb_handlers_stuck", "Calls given up after a timeout that have not returned yet.");
    add(stuck, {}, counters.stuck_handlers);
    metrics.push_back(std::move(held));
    metrics.push_back(std::move(stuck));
    return metrics;
}

}  // namespace ebb::metrics
