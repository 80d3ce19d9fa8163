#pragma once

#include <filesystem>
#include <functional>
#include <ostream>
#include <string>

#include <stdlib.h>

#include <ebb/store.h>

#include "store/store.h"
#include "support/clock.h"
#include "support/store_describe.h"
#include "support/store_faulty.h"
#include "support/store_samples.h"

// What every store must do, once: the conformance_*.cpp files hold the cases, and each store's own
// test file names the store (INSTANTIATE_TEST_SUITE_P). A fault found in one store becomes a case
// for all.

namespace ebb::testing {

class TempDir {
 public:
    TempDir() {
        std::string name = (std::filesystem::temp_directory_path() / "ebb-store-XXXXXX").string();
        if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("mkdtemp failed");
        path_ = name;
    }

    TempDir(const TempDir&) = delete;
    TempDir& operator=(const TempDir&) = delete;

    ~TempDir() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }

    const std::filesystem::path& path() const { return path_; }

    std::string file(std::string_view name) const { return (path_ / name).string(); }

 private:
    std::filesystem::path path_;
};

struct StoreKind {
    std::string name;
    /// Opens an empty store that keeps its files, if any, in `dir`.
    std::function<StorePtr(const Clock& clock, const TempDir& dir)> open;
};

inline std::ostream& operator<<(std::ostream& out, const StoreKind& kind) {
    return out << kind.name;
}

/// One test with one empty store and its own time.
class StoreConformance : public ::testing::TestWithParam<StoreKind> {
 protected:
    StoreConformance() : clock_(kStart), store_(GetParam().open(clock_, dir_)) {
        store().heartbeat(worker_of("w1"), kLease);
        store().heartbeat(worker_of("w2"), kLease);
    }

    static constexpr Duration kLease = std::chrono::seconds(30);

    Store& store() { return *store_; }

    std::vector<HistoryEvent> history_of(int n) {
        HistoryQuery query;
        query.instance = id_of(n);
        return store().history(query);
    }

    std::optional<TaskRow> task(int instance, TokenId token) {
        for (TaskRow& row : store().tasks(id_of(instance))) {
            if (row.task.token == token) return std::move(row);
        }
        return std::nullopt;
    }

    TempDir dir_;
    ManualClock clock_;
    StorePtr store_;
};

/// Twelve events of instance 1, of two types and two nodes.
class StoreHistory : public StoreConformance {
 protected:
    StoreHistory() {
        NewInstance instance = instance_of(1);
        for (Seq seq = 2; seq <= 12; ++seq) {
            const auto type = seq % 2 == 0 ? HistoryType::StepCompleted : HistoryType::StepRetried;
            HistoryEvent event = event_of(seq, type);
            event.node = seq % 3 == 0 ? "ship" : "pay";
            instance.history.push_back(event);
        }
        start_one(store(), instance);
        start_one(store(), instance_of(2));
        query_.instance = id_of(1);
    }

    std::vector<Seq> found() {
        std::vector<Seq> seqs;
        for (const HistoryEvent& event : store().history(query_)) seqs.push_back(event.seq);
        return seqs;
    }

    HistoryQuery query_;
};

/// Instance 1 waits for nothing but mail.
class StoreMail : public StoreConformance {
 protected:
    StoreMail() { start_one(store(), instance_of(1, {put(1, "pay", kStart + kLease * 1'000)})); }

    static std::vector<std::string> senders_of(const std::vector<Mail>& mail) {
        std::vector<std::string> senders;
        for (const Mail& each : mail) senders.push_back(each.key.sender);
        return senders;
    }

    /// The senders of the mail that comes with the one task that can be claimed.
    std::vector<std::string> claimed(const std::string& worker = "w1") {
        const std::vector<Claim> claims = claim(store(), worker, {});
        if (claims.empty()) return {};
        EXPECT_EQ(claims.size(), 1U);
        EXPECT_EQ(claims[0].task, (TaskRef{id_of(1), kMailTask}));
        return senders_of(claims[0].mail);
    }

    bool has_wake(int n = 1) { return task(n, kMailTask).has_value(); }
};

/// Eight instances of two workflows, two versions and two statuses.
class StoreList : public StoreConformance {
 protected:
    StoreList() {
        for (int n = 1; n <= 8; ++n) {
            NewInstance instance = instance_of(n);
            instance.row.workflow = n % 2 == 0 ? "orders" : "returns";
            instance.row.version = n <= 4 ? 1 : 2;
            instance.row.key = n == 3 || n == 4 ? "k" : "";
            instance.row.status = n > 6 ? InstanceStatus::Failed : InstanceStatus::Running;
            start_one(store(), instance);
        }
    }

    std::vector<InstanceId> found() {
        std::vector<InstanceId> ids;
        for (const InstanceRow& row : store().list(query_)) ids.push_back(row.id);
        return ids;
    }

    InstanceQuery query_;
};

/// Queues with limits.
class StoreQueues : public StoreConformance {
 protected:
    void limit(const std::string& queue, QueueLimits limits) {
        store().set_queue({.name = queue, .limits = limits, .updated_at = clock_.now()});
    }

    LimitedClaims look_at(int instance) { return look("w1", 64, id_of(instance)); }

    LimitedClaims look(
        const std::string& worker, int at_most = 64, std::optional<InstanceId> instance = {}
    ) {
        ClaimRequest request;
        request.worker = worker;
        request.instance = instance;
        request.handlers = {"pay", "ship"};
        request.queues = {"a", "b", "c"};
        request.limit = at_most;
        return store().claim_limited(request);
    }

    std::vector<std::string> take(const std::string& worker, int at_most = 64) {
        return names_of(look(worker, at_most).claims);
    }

    /// Instances first..last, each with one task.
    void start_all(int first, int last, const TaskChange& task) {
        std::vector<NewInstance> batch;
        for (int n = first; n <= last; ++n) batch.push_back(instance_of(n, {task}));
        store().start(batch);
    }

    void end(int n) { commit_one(store(), {.instance = n, .status = InstanceStatus::Completed}); }

    QueueUse use_of(const std::string& queue, const std::string& key = {}) {
        return store().queues({.name = queue, .concurrency_key = key}).at(0);
    }
};

/// Verbs whose answer is lost.
class StoreRepeat : public StoreConformance {
 protected:
    /// Performs `verb` with a lost answer, then again: the second time must change nothing.
    template <class Verb>
    void lose_and_repeat(StoreVerb name, Verb verb) {
        FaultyStore faulty(store());
        faulty.plan({.kind = Fault::Kind::InDoubt, .nth = 1, .verb = name});
        try {
            verb(faulty);
            ADD_FAILURE() << "the answer was not lost";
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), ErrorCode::StoreInDoubt);
        }
        const std::string before = describe(store(), 3);
        verb(faulty);
        EXPECT_EQ(describe(store(), 3), before);
    }
};

/// Instances 1 to 4 are started and held by w1; 2 is before the others in its queue.
class StoreStarted : public StoreConformance {
 protected:
    StoreStarted() {
        std::vector<NewInstance> instances;
        for (int n = 1; n <= 4; ++n) {
            instances.push_back(instance_of(n, {put_continued(1, "pay")}));
            instances.back().tasks[0].queue = "till";
            instances.back().lease_owner = "w1";
            if (n == 2) instances.back().row.priority = 5;
        }
        store().start(instances);
    }

    std::vector<int> claimed_by(const std::string& worker) {
        std::vector<int> found;
        for (const Claim& claim : claim(store(), worker, {"pay"}, 10)) {
            for (int n = 1; n <= 9; ++n) {
                if (claim.task.instance == id_of(n)) found.push_back(n);
            }
        }
        return found;
    }

    std::vector<int> held_by(const std::string& worker) {
        std::vector<int> found;
        for (const HeldTask& held : store().heartbeat(worker_of(worker), kLease).held) {
            for (int n = 1; n <= 9; ++n) {
                if (held.task.instance == id_of(n)) found.push_back(n);
            }
        }
        return found;
    }

    TaskRef first(int n) { return {id_of(n), 1}; }
};

}  // namespace ebb::testing
