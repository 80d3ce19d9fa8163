#include "races/race_world.h"

#include <fmt/format.h>

#include "support/store_describe.h"
#include "support/store_samples.h"

namespace ebb::testing {

using namespace std::chrono_literals;

namespace {

constexpr Duration kLease = 30s;

NewInstance paying(int n, std::vector<TaskChange> tasks) {
    NewInstance instance = instance_of(n, std::move(tasks));
    instance.row.state = kFirstAttempt;
    return instance;
}

}  // namespace

Races::Races() : clock_(kStart), world_(std::make_unique<Interleaving>(GetParam(), clock_)) {}

std::string Races::url_of(bool is_gated) const {
    return fmt::format(
        "{}&application_name={}%20{}",
        world_->url(is_gated),
        world_->schema(),
        is_gated ? "gated" : "open"
    );
}

void Races::make_new_world() {
    world_ = std::make_unique<Interleaving>(GetParam(), clock_);
    make_world();
}

void Races::make_world() {
    world_->reset();
    clock_.set(kStart);
    may_be_lost_ = false;
    may_be_gone_ = false;
    Store& store = world_->open();
    for (const char* worker : {"w1", "w2", "late"}) store.heartbeat(worker_of(worker), 1s);
    store.set_queue({.name = "till", .limits = {.concurrency = 1, .rate = {}}, .updated_at = kStart}
    );
    const std::map<int, std::string> owners{{3, "w1"}, {4, "w2"}, {5, "late"}};
    for (const auto& [n, owner] : owners) {
        start_one(store, paying(n, {put(1, "pay")}));
        claim(store, owner);
    }
    for (const auto& [n, owner] : std::map<int, std::string>{{6, "late"}, {7, "w1"}}) {
        NewInstance folded = paying(n, {put_continued(1, "pay")});
        folded.lease_owner = owner;
        start_one(store, folded);
    }
    start_one(store, paying(1, {put(1, "pay")}));
    start_one(store, paying(2, {put(1, "pay")}));
    start_one(store, paying(8, {put_in("till", 1, "pay")}));
    start_one(store, paying(9, {put(1, "pay")}));
    const Change stop{
        .instance = 9,
        .history = {event_of(2, HistoryType::CancelRequested)},
        .tasks = {change_of(TaskChange::Kind::Stop, 1)},
    };
    EXPECT_EQ(commit_one(store, stop), CommitResult::Committed);
    send_one(store, mail_of(2, "before"));
    clock_.advance(2s);
    for (const char* worker : {"w1", "w2"}) store.heartbeat(worker_of(worker), kLease);
}

std::string Races::ask(const std::string& query) {
    return world_->ask(fmt::format(fmt::runtime(query), world_->schema()));
}

void Races::check(const std::vector<Side>& sides) {
    Store& store = world_->open();
    for (const Side& side : sides) {
        for (const Claim& each : side.claims) check_claim(side, each);
        for (const Left& left : side.outcomes) check_outcome(left);
        for (const int n : side.started) {
            EXPECT_TRUE(may_be_gone_ || store.load(id_of(n))) << n << " was started, and is gone";
        }
    }
    store.maintain();
    check_rows();
    check_leases();
}

/// A worker that still holds its task has a state that has not changed since: no other process may
/// change it, except to end the instance. Any worker may decide the mail of 2, whichever runs its
/// step.
void Races::check_claim(const Side& side, const Claim& claimed) {
    if (claimed.task.instance == id_of(2)) return;
    Store& store = world_->open();
    const auto row = store.load(claimed.task.instance);
    if (!row || is_terminal(row->status)) return;
    for (const TaskRow& task : store.tasks(claimed.task.instance)) {
        if (task.lease_owner != side.worker || task.task != claimed.task) continue;
        EXPECT_EQ(claimed.instance.revision, row->revision) << name_of(claimed.task);
        EXPECT_EQ(claimed.instance.state, row->state) << name_of(claimed.task);
    }
}

/// An outcome that was taken is there until a commit has decided it.
void Races::check_outcome(const Left& left) {
    const auto row = world_->open().load(id_of(left.instance));
    if (!row || is_terminal(row->status) || row->revision != left.revision) return;
    const std::string there =
        ask("SELECT count(*) FROM {}.tasks WHERE outcome IS NOT NULL AND token = 1 AND instance_id "
            "= '" +
            id_of(left.instance).to_string() + "'");
    EXPECT_EQ(there, "1") << "the outcome for " << left.instance << " is lost";
}

void Races::check_rows() {
    for (int n = 1; n <= kNumbersMax; ++n) check_row(n);
    EXPECT_LE(ask("SELECT count(*) FROM {}.keys"), "1");
    EXPECT_EQ(
        ask("SELECT count(*) FROM {0}.keys AS k WHERE NOT EXISTS ("
            "SELECT 1 FROM {0}.instances AS i WHERE i.id = k.instance_id)"),
        "0"
    ) << "the key of an instance that is gone";
}

void Races::check_row(int n) {
    Store& store = world_->open();
    const auto row = store.load(id_of(n));
    const std::vector<TaskRow> tasks = store.tasks(id_of(n));
    HistoryQuery query;
    query.instance = id_of(n);
    const std::size_t events = store.history(query).size();
    const std::string id = id_of(n).to_string();
    const bool has_mail =
        ask("SELECT count(*) FROM {}.inbox WHERE instance_id = '" + id + "'") != "0";
    const bool has_waits =
        ask("SELECT count(*) FROM {}.waits WHERE instance_id = '" + id + "'") != "0";
    if (!row) {
        EXPECT_EQ(tasks.size() + events, 0U) << "left of " << n;
        EXPECT_FALSE(has_mail || has_waits) << "left of " << n;
        return;
    }
    EXPECT_EQ(static_cast<std::int64_t>(events), row->revision) << n;
    std::size_t wakes = 0;
    for (const TaskRow& task : tasks) wakes += task.task.token == kMailTask ? 1U : 0U;
    EXPECT_EQ(wakes, has_mail ? 1U : 0U) << "unread mail has a wake, and none else: " << n;
    EXPECT_EQ(tasks.size() - wakes, is_terminal(row->status) ? 0U : 1U) << n;
}

/// No dead worker holds a task, only tasks of dead workers were lost, and no more slots are taken
/// than there are.
void Races::check_leases() {
    std::set<std::string> living;
    for (const WorkerRow& worker : world_->open().workers()) living.insert(worker.id);
    int slots = 0;
    for (int n = 1; n <= kNumbersMax; ++n) {
        for (const TaskRow& task : world_->open().tasks(id_of(n))) {
            slots += task.has_slot ? 1 : 0;
            if (!task.lease_owner.empty()) {
                EXPECT_TRUE(living.contains(task.lease_owner)) << n << task.lease_owner;
            }
            EXPECT_FALSE(task.was_lost && !may_be_lost_ && n != 5 && n != 6) << n;
        }
    }
    EXPECT_LE(slots, 1);
}

}  // namespace ebb::testing
