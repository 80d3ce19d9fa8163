// Goal: SQLite and PostgreSQL answer every sequence of verbs as the memory store, the model, does.
// Method: random sequences (rapidcheck, shrunk when they fail) run against both; every answer and
// the whole visible state after each step are compared as text.

#include <functional>

#include <rapidcheck.h>

#include "store/conformance.h"
#include "store/memory/memory_store.h"
#include "store/postgres/postgres_store.h"
#include "store/sqlite/sqlite_store.h"
#include "support/postgres_server.h"
#include "support/store_describe.h"

namespace ebb::testing {
namespace {

using namespace std::chrono_literals;

constexpr int kInstances = 4;
constexpr int kTokens = 3;

/// One step; what the numbers mean depends on `verb`.
struct Step {
    int verb = 0;
    int instance = 1;
    int token = 1;
    int a = 0;
    int b = 0;
};

std::ostream& operator<<(std::ostream& out, const Step& step) {
    return out << "{" << step.verb << ", " << step.instance << ", " << step.token << ", " << step.a
               << ", " << step.b << "}";
}

template <class T>
const T& pick(const std::vector<T>& values, int index) {
    return values[static_cast<std::size_t>(index) % values.size()];
}

const std::vector<std::string> kWorkers{"w1", "w2", "w3"};
const std::vector<std::string> kHandlers{"pay", "ship", ""};
const std::vector<std::string> kQueues{"default", "gpu", "none"};
const std::vector<std::string> kKeys{"", "x", "y"};
const std::vector<Duration> kDelays{-1s, 0s, 1us, 3s, 60s};

/// Runs steps on one store and tells everything that it answers.
class Player {
 public:
    Player(Store& store, ManualClock& clock) : store_(store), clock_(clock) {}

    std::string play(const Step& step) {
        switch (step.verb) {
            case 0:
                return start(step);
            case 1:
            case 2:
            case 3:
                return commit(step);
            case 4:
            case 5:
                return claim_some(step);
            case 6:
                return heartbeat(step);
            case 7:
                return release(step);
            case 8:
                return maintain();
            case 9:
                clock_.advance(pick(kDelays, step.a) + 1s);
                return "tick";
            case 10:
                store_.sign_off(process(step));
                return "signed off";
            case 11:
                return set_queue(step);
            case 12:
            case 13:
                return claim_limited(step);
            case 14:
                return keep(step);
            case 15:
                return purge(step);
            case 16:
                return sweep(step);
            default:
                return read(step);
        }
    }

 private:
    TaskChange change(const Step& step, int kind) const {
        TaskChange change;
        change.kind = static_cast<TaskChange::Kind>(kind % 5);
        change.token = step.token;
        change.handler = pick(kHandlers, step.a);
        change.queue = pick(kQueues, step.b);
        change.concurrency_key = pick(kKeys, step.a + step.instance);
        change.due = clock_.now() + pick(kDelays, step.a + step.b);
        change.is_continued = step.b % 2 == 1;
        return change;
    }

    std::string start(const Step& step) {
        NewInstance instance = instance_of(step.instance, {change(step, 0)});
        instance.row.priority = step.a - 3;
        if (step.b % 3 == 0) instance.row.key = "key-" + std::to_string(step.a % 2);
        if (step.b % 2 == 0) instance.lease_owner = pick(kWorkers, step.a);
        const StartResult result = start_one(store_, instance);
        return (result.kind == StartResult::Kind::Created ? "created " : "existing ") +
               result.id.to_string();
    }

    std::string commit(const Step& step) {
        const auto row = store_.load(id_of(step.instance));
        Change data;
        data.instance = step.instance;
        data.revision = (row ? row->revision : 1) - (step.b == 7 ? 1 : 0);
        data.status = step.a == 7 ? static_cast<InstanceStatus>(step.b) : InstanceStatus::Running;
        data.state = "state " + std::to_string(step.a);
        data.history = {event_of(data.revision + 1, static_cast<HistoryType>(step.a), "{}")};
        data.tasks = {change(step, step.verb + step.a)};
        if (step.verb == 2) data.lease_owner = pick(kWorkers, step.b);
        data.now = clock_.now();
        return "commit " + std::to_string(static_cast<int>(commit_one(store_, data)));
    }

    std::string claim_some(const Step& step) {
        ClaimRequest request;
        request.worker = pick(kWorkers, step.a);
        if (step.b % 2 == 0) request.handlers = {"pay", "ship"};
        if (step.b == 3) request.queues = {"gpu", ""};
        if (step.a > 5) request.instance = id_of(step.instance);
        request.stops_only = step.b == 5;
        if (step.a % 2 == 0) request.limited_queues = {"gpu"};
        request.limit = 1 + step.token;
        return describe(store_.claim(request));
    }

    std::string set_queue(const Step& step) {
        QueueRow row{.name = pick(kQueues, step.token), .limits = {}, .updated_at = clock_.now()};
        if (step.a % 2 == 0) row.limits.concurrency = step.b % 3;
        if (step.a % 3 != 0) row.limits.concurrency_per_key = 1 + step.b % 2;
        if (step.b % 3 == 0) row.limits.rate = QueueRate{1 + step.a % 3, 10s};
        store_.set_queue(row);
        return "queue set";
    }

    std::string claim_limited(const Step& step) {
        ClaimRequest request;
        request.worker = pick(kWorkers, step.a);
        request.handlers = {"ship", "pay", ""};
        if (step.b % 4 == 0) request.handlers = {"pay"};
        request.queues = {"gpu", "default", "none"};
        request.limit = step.token;
        const LimitedClaims result = store_.claim_limited(request);
        return describe(result.claims) + fmt::format("next {}", micros(result.next_start));
    }

    /// One of the two that want the name.
    static WorkerProcess process(const Step& step) {
        return {pick(kWorkers, step.a), kStart + Duration(step.b % 5 == 0 ? 1 : 0)};
    }

    std::string heartbeat(const Step& step) {
        WorkerRow worker = worker_of(pick(kWorkers, step.a), {pick(kHandlers, step.b)});
        worker.started_at = process(step).started_at;
        worker.takes_name = step.b % 3 == 0;
        if (step.token == 1) worker.queues = {pick(kQueues, step.b)};
        const HeartbeatResult result = store_.heartbeat(worker, pick(kDelays, step.b) + 2s);
        if (result.is_displaced) return "displaced";
        return (result.is_known ? "known\n" : "new\n") + describe(result.held) +
               fmt::format("{}", fmt::join(result.limited_queues, ","));
    }

    std::string release(const Step& step) {
        const std::vector<TaskRef> tasks{
            {id_of(step.instance), step.token}, {id_of(step.instance), step.token + 1}
        };
        if (step.b % 4 == 1) {
            store_.postpone(process(step), tasks.front(), clock_.now() + 1s);
            return "postponed";
        }
        if (step.b % 4 == 2) {
            store_.abandon(process(step), tasks);
            return "abandoned";
        }
        store_.release(process(step), tasks);
        return "released";
    }

    std::string keep(const Step& step) {
        const std::string workflow = step.b % 3 == 0 ? "*" : "orders";
        if (step.a == 7) return store_.clear_retention(workflow) ? "cleared" : "not there";
        RetentionRule rule{.workflow = workflow, .keep = {}, .updated_at = clock_.now()};
        if (step.a % 2 == 0) rule.keep.completed = 1s * step.b;
        if (step.a % 3 == 0) rule.keep.failed = 1s * step.token;
        store_.set_retention(rule);
        return "kept";
    }

    std::string purge(const Step& step) {
        PurgeRequest request{.rules = store_.retention()};
        if (step.a > 3) request.rules = {{.workflow = "*", .keep = {1s * step.a, 1s * step.b}}};
        request.after = id_of(step.instance - 1);
        request.limit = step.token;
        request.only_counts = step.b == 7;
        const PurgeResult result = store_.purge(request);
        return fmt::format("{} {}\n", result.last.to_string(), result.is_end) +
               describe(result.purged);
    }

    std::string sweep(const Step& step) {
        if (step.b % 2 == 0) {
            const auto turn = store_.take_sweep(1s * step.a);
            if (!turn) return "no turn";
            turn_ = *turn;
        } else {
            turn_.after = id_of(step.instance);
            if (!store_.put_sweep(turn_, 1s * step.a)) return "lost";
        }
        return fmt::format("turn {} after {}", turn_.number, turn_.after.to_string());
    }

    std::string maintain() {
        const MaintenanceResult result = store_.maintain();
        std::string text = fmt::format("{} {}", result.leases_expired, micros(result.next_due));
        for (const std::string& worker : result.workers_expired) text += " " + worker;
        return text;
    }

    std::string read(const Step& step) {
        HistoryQuery history;
        history.instance = id_of(step.instance);
        history.order = static_cast<HistoryQuery::Order>(step.b % 2);
        history.after = step.a;
        history.before = step.b;
        history.limit = step.token;
        if (step.a % 2 == 0) history.types = {static_cast<HistoryType>(step.b)};
        InstanceQuery list;
        if (step.a % 3 == 0)
            list.statuses = {static_cast<InstanceStatus>(step.b), InstanceStatus::Running};
        if (step.a % 4 == 0) list.key = "key-1";
        if (step.b % 2 == 0) list.before = id_of(step.instance);
        if (step.b % 3 == 0) list.from = id_of(step.token);
        if (step.b % 4 > 1) list.order = InstanceOrder::OldestFirst;
        list.limit = step.token;
        return describe(store_.history(history)) + describe(store_.list(list));
    }

    Store& store_;
    ManualClock& clock_;
    SweepTurn turn_;
};

/// Plays random sequences on the memory store and on stores that `open` makes; each must be empty.
bool answers_as_memory_does(
    const std::string& name, const std::function<StorePtr(const Clock&)>& open
) {
    const auto steps = rc::gen::container<std::vector<Step>>(rc::gen::build<Step>(
        rc::gen::set(&Step::verb, rc::gen::inRange(0, 19)),
        rc::gen::set(&Step::instance, rc::gen::inRange(1, kInstances + 1)),
        rc::gen::set(&Step::token, rc::gen::inRange(1, kTokens + 1)),
        rc::gen::set(&Step::a, rc::gen::inRange(0, 8)),
        rc::gen::set(&Step::b, rc::gen::inRange(0, 8))
    ));
    return rc::check("memory and " + name + " answer alike", [&] {
        ManualClock memory_clock(kStart);
        ManualClock clock(kStart);
        const StorePtr memory = make_memory_store(memory_clock);
        const StorePtr store = open(clock);
        Player model(*memory, memory_clock);
        Player real(*store, clock);
        for (const Step& step : *steps) {
            RC_ASSERT(real.play(step) == model.play(step));
            RC_ASSERT(describe(*store, kInstances) == describe(*memory, kInstances));
        }
    });
}

constexpr const char* kHint = "rapidcheck has printed the shortest sequence that differs.";

TEST(StoreModel, sqlite_answers_every_sequence_as_memory_does) {
    const TempDir dir;
    int files = 0;
    const auto open = [&](const Clock& clock) {
        const std::string path = dir.file(std::to_string(++files) + ".db");
        return make_sqlite_store(
            {.path = path, .synchronous = SqliteOptions::Synchronous::Normal}, clock
        );
    };
    EXPECT_TRUE(answers_as_memory_does("SQLite", open)) << kHint;
}

TEST(StoreModel, postgresql_answers_every_sequence_as_memory_does) {
    const auto open = [](const Clock& clock) {
        return make_postgres_store(
            {.url = postgres_server().url(), .schema = fresh_schema()}, clock
        );
    };
    EXPECT_TRUE(answers_as_memory_does("PostgreSQL", open)) << kHint;
}

}  // namespace
}  // namespace ebb::testing
