#include "races/race_verbs.h"

#include <memory>
#include <stdexcept>

#include <fmt/format.h>
#include <libpq-fe.h>

#include <ebb/error.h>
#include <ebb/transaction.h>

#include "support/store_describe.h"
#include "support/store_samples.h"

namespace ebb::testing {
namespace {

using namespace std::chrono_literals;

constexpr Duration kLease = 30s;

ClaimRequest request_of(const Side& side) {
    ClaimRequest request;
    request.worker = side.worker;
    request.handlers = {"pay", "ship"};
    request.limited_queues = {"till"};
    return request;
}

void keep(Side& side, std::vector<Claim> claims) {
    for (Claim& each : claims) side.claims.push_back(std::move(each));
}

/// What the worker holds, as its heartbeat says.
std::vector<TaskRef> held_of(Side& side) {
    std::vector<TaskRef> tasks;
    for (const HeldTask& held : side.store.heartbeat(worker_of(side.worker), kLease).held) {
        tasks.push_back(held.task);
    }
    return tasks;
}

/// A commit that adds one event, to an instance as it was read.
Change next_of(const Side& side, int n, std::int64_t revision) {
    return {
        .instance = n,
        .revision = revision,
        .state = fmt::format(R"({{"revision":{}}})", revision + 1),
        .history = {event_of(revision + 1, HistoryType::StepCompleted)},
        .lease_owner = side.worker,
    };
}

/// A worker that runs one step of all that it gets, and hands the next ones on. Mail it decides.
void run_steps(Side& side, const ClaimRequest& request) {
    for (const Claim& each : side.store.claim(request)) {
        Change change = next_of(side, number_of(each.task.instance), each.instance.revision);
        if (each.task.token == kMailTask) {
            for (const Mail& mail : each.mail) change.received.push_back(mail.key);
        } else {
            change.tasks = {put(each.task.token, "ship")};
        }
        commit_one(side.store, change);
    }
}

void receive(Side& side) {
    ClaimRequest request = request_of(side);
    request.handlers = {};
    run_steps(side, request);
}

void start(Side& side, bool is_leased) {
    // The same key on both sides: one of them comes first.
    const int first = kInstances + (side.worker == "w1" ? 1 : 2) + (is_leased ? 2 : 0);
    NewInstance instance =
        instance_of(first, {is_leased ? put_continued(1, "pay") : put(1, "pay")});
    instance.row.key = "k";
    if (is_leased) instance.lease_owner = side.worker;
    if (start_one(side.store, instance).kind == StartResult::Kind::Created) {
        side.started.push_back(first);
    }
}

void commit_own(Side& side) {
    // The worker that holds a task continues it; w1 has got 3 by a claim and 7 by its start.
    for (const TaskRef& held : held_of(side)) {
        const auto row = side.store.load(held.instance);
        if (!row || is_terminal(row->status)) continue;
        commit_one(side.store, next_of(side, number_of(held.instance), row->revision));
    }
}

void end_own(Side& side) {
    for (const TaskRef& held : held_of(side)) {
        const auto row = side.store.load(held.instance);
        if (!row) continue;
        Change change = next_of(side, number_of(held.instance), row->revision);
        change.status = InstanceStatus::Completed;
        commit_one(side.store, change);
    }
}

/// The end of a transactional step: the handler's transaction commits it.
void commit_in_transaction(Side& side) {
    for (const TaskRef& held : held_of(side)) {
        const std::unique_ptr<StoreTransaction> transaction = side.store.begin_transaction();
        const auto row = transaction->lock(held.instance);
        if (!row || is_terminal(row->status)) continue;
        const Change change = next_of(side, number_of(held.instance), row->revision);
        transaction->commit(change.view());
    }
}

void abort_all(Side& side) {
    std::vector<Change> changes;
    for (int n = 1; n <= kInstances; ++n) {
        const auto row = side.store.load(id_of(n));
        if (!row || is_terminal(row->status)) continue;
        changes.push_back(next_of(side, n, row->revision));
        changes.back().status = InstanceStatus::Aborted;
        changes.back().lease_owner = {};
    }
    std::vector<Commit> commits;
    for (const Change& change : changes) commits.push_back(change.view());
    side.store.commit(commits);
}

void give_back(Side& side, bool as_lost) {
    const std::vector<TaskRef> tasks = held_of(side);
    const WorkerProcess worker{side.worker, kStart};
    as_lost ? side.store.abandon(worker, tasks) : side.store.release(worker, tasks);
}

void postpone(Side& side) {
    for (const TaskRef& held : held_of(side)) {
        side.store.postpone({side.worker, kStart}, held, kStart + 1h);
    }
}

/// The outcome of each first attempt that the worker holds.
void hand_in(Side& side) {
    std::vector<HandedIn> outcomes;
    std::vector<Left> left;
    for (const TaskRef& held : held_of(side)) {
        const auto row = side.store.load(held.instance);
        if (!row || held.token != 1) continue;
        outcomes.push_back(
            {.instance = held.instance, .attempt = {1, 1, 1, 0}, .outcome = R"({"a":1})"}
        );
        left.push_back({number_of(held.instance), row->revision});
    }
    const auto results = side.store.hand_in({side.worker, kStart}, outcomes);
    for (std::size_t i = 0; i < results.size(); ++i) {
        if (results[i] == HandInResult::Taken) side.outcomes.push_back(left[i]);
    }
}

void send(Side& side) {
    std::vector<Mail> mail;
    for (int n = 1; n <= kInstances; ++n) mail.push_back(mail_of(n, side.worker));
    side.store.send(mail);
}

void drop_mail(Side& side) {
    for (int n = 1; n <= kInstances; ++n) side.store.drop_mail(id_of(n));
}

/// Throws what says that the transaction has to be tried again, as a store does.
void run_sql(PGconn* session, const char* sql) {
    const std::unique_ptr<PGresult, void (*)(PGresult*)> result(PQexec(session, sql), PQclear);
    if (PQresultStatus(result.get()) == PGRES_COMMAND_OK) return;
    const char* state = PQresultErrorField(result.get(), PG_DIAG_SQLSTATE);
    const std::string_view why = state != nullptr ? state : "";
    if (why == "40001" || why == "40P01") {
        throw Error(ErrorCode::StoreBusy, "The transaction has to be tried again.");
    }
    throw std::runtime_error(PQresultErrorMessage(result.get()));
}

/// A program that starts an instance and sends mail in a transaction of its own.
void run_application(Side& side) {
    const std::unique_ptr<PGconn, void (*)(PGconn*)> session(
        PQconnectdb(side.url.c_str()), PQfinish
    );
    const Transaction transaction(session.get());
    const int number = kInstances + (side.worker == "w1" ? 5 : 6);
    NewInstance instance = instance_of(number, {put(1, "pay")});
    instance.row.key = "k";
    run_sql(session.get(), "BEGIN");
    const StartResult result = side.store.start_in(transaction, instance);
    side.store.borrow(transaction)->send(mail_of(1, "application of " + side.worker));
    run_sql(session.get(), "COMMIT");
    if (result.kind == StartResult::Kind::Created) side.started.push_back(number);
}

/// The repairer finds other rows of each instance than its state asks for.
void repair(Side& side) {
    std::vector<SideRowRepair> repairs;
    side.store.check_side_rows({}, kNumbersMax);
    for (int n = 1; n <= kInstances; ++n) {
        const auto row = side.store.load(id_of(n));
        if (!row || is_terminal(row->status)) continue;
        SideRowRepair repair{.instance = row->id, .revision = row->revision, .effects = {}};
        repair.effects.waits = {wait_of(1)};
        repairs.push_back(repair);
    }
    side.store.put_side_rows(repairs);
}

std::vector<Verb> claims() {
    return {
        {"claim", [](Side& side) { keep(side, side.store.claim(request_of(side))); }},
        {"claim_one",
         [](Side& side) {
             ClaimRequest request = request_of(side);
             request.instance = id_of(1);
             keep(side, side.store.claim(request));
         }},
        {"claim_limited",
         [](Side& side) {
             ClaimRequest request = request_of(side);
             request.queues = {"till"};
             keep(side, side.store.claim_limited(request).claims);
         }},
        {"claim_stops",
         [](Side& side) {
             ClaimRequest request = request_of(side);
             request.stops_only = true;
             keep(side, side.store.claim(request));
         }},
        {"steps", [](Side& side) { run_steps(side, request_of(side)); }},
        {"receive", receive},
    };
}

std::vector<Verb> writes() {
    return {
        {"start", [](Side& side) { start(side, false); }},
        {"start_leased", [](Side& side) { start(side, true); }},
        {"commit", commit_own},
        {"end", end_own},
        {"abort", abort_all},
        {"transaction", commit_in_transaction},
        {"application", run_application},
        {"hand_in", hand_in},
        {"send", send},
        {"drop_mail", drop_mail},
        {"release", [](Side& side) { give_back(side, false); }},
        {"abandon", [](Side& side) { give_back(side, true); }},
        {"postpone", postpone},
    };
}

std::vector<Verb> chores() {
    return {
        {"maintain", [](Side& side) { side.store.maintain(); }},
        {"heartbeat", [](Side& side) { side.store.heartbeat(worker_of("late"), kLease); }},
        {"sign_off", [](Side& side) { side.store.sign_off({side.worker, kStart}); }},
        {"repair", repair},
        {"set_queue",
         [](Side& side) {
             QueueRow row{.name = "till", .limits = {}, .updated_at = kStart};
             row.limits.concurrency = 1;
             side.store.set_queue(row);
         }},
        {"purge",
         [](Side& side) {
             side.store.purge(
                 {.rules = {{.workflow = "*", .keep = {.completed = 1s, .failed = 1s}}}}
             );
         }},
    };
}

}  // namespace

const std::vector<Verb>& verbs() {
    static const std::vector<Verb> all = [] {
        std::vector<Verb> verbs = claims();
        for (const auto& more : {writes(), chores()}) {
            verbs.insert(verbs.end(), more.begin(), more.end());
        }
        return verbs;
    }();
    return all;
}

void run_or_give_up(const Verb& verb, Side& side) {
    try {
        verb.run(side);
    } catch (const Error& error) {
        if (!error.is_transient()) throw;
    }
}

int number_of(const InstanceId& id) {
    for (int n = 1; n <= kNumbersMax; ++n) {
        if (id == id_of(n)) return n;
    }
    return 0;
}

}  // namespace ebb::testing
