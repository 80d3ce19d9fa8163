// Goal: no unread mail is ever without a wake, however a session that sends and a commit that
// receives meet. Method: one of them stops at a row, or stays in its open transaction, while the
// other runs.

#include <atomic>
#include <barrier>
#include <thread>

#include <fmt/format.h>

#include "races/interleaving.h"
#include "support/store_samples.h"

namespace ebb::testing {
namespace {

class MailRaces : public ::testing::TestWithParam<Isolation> {
 protected:
    MailRaces() : clock_(kStart), world_(GetParam(), clock_) {
        for (const char* worker : {"w1", "w2"}) {
            world_.open().heartbeat(worker_of(worker), std::chrono::seconds(30));
        }
        start_one(world_.open(), instance_of(1));
        send_one(world_.open(), mail_of(1, "r1"));
        EXPECT_EQ(claim(world_.open(), "w1", {}).size(), 1U);
    }

    CommitResult receive(Store& store) {
        const Change change{
            .history = {event_of(2, HistoryType::SignalReceived)}, .received = {{"r1", 0}}
        };
        return commit_one(store, change);
    }

    /// All mail that is left can be claimed, now and at once.
    void expect_left(const std::vector<std::string>& senders) {
        std::vector<std::string> found;
        for (const Claim& each : claim(world_.open(), "w2", {})) {
            for (const Mail& mail : each.mail) found.push_back(mail.key.sender);
        }
        EXPECT_EQ(found, senders);
        const std::string unread =
            world_.ask(fmt::format("SELECT count(*) FROM {}.inbox", world_.schema()));
        EXPECT_EQ(unread, std::to_string(senders.size()));
    }

    ManualClock clock_;
    Interleaving world_;
};

INSTANTIATE_TEST_SUITE_P(
    Postgres,
    MailRaces,
    ::testing::Values(Isolation::ReadCommitted, Isolation::RepeatableRead, Isolation::Serializable),
    [](const auto& isolation) { return std::string(to_string(isolation.param)); }
);

TEST_P(MailRaces, what_is_sent_while_a_commit_removes_the_wake_has_one) {
    // Each look of the commit at a row of the table.
    for (int look = 1; look <= 4; ++look) {
        SCOPED_TRACE(look);
        const std::string name = fmt::format("late{}", look);
        CommitResult result = CommitResult::NotFound;
        world_.run(
            {"tasks", look},
            [&] {
                const std::int64_t revision = world_.gated().load(id_of(1))->revision;
                const Change change{.revision = revision, .received = {{"r1", 0}}};
                result = commit_one(world_.gated(), change);
            },
            [&] { EXPECT_EQ(send_one(world_.open(), mail_of(1, name)), SendResult::Sent); }
        );
        EXPECT_EQ(result, CommitResult::Committed);
        expect_left({name});
        const std::int64_t revision = world_.open().load(id_of(1))->revision;
        const Change rest{.revision = revision, .received = {{name, 0}}};
        EXPECT_EQ(commit_one(world_.open(), rest), CommitResult::Committed);
        send_one(world_.open(), mail_of(1, "r1"));
        claim(world_.open(), "w1", {});
    }
}

TEST_P(MailRaces, a_commit_waits_for_a_session_that_is_sending) {
    for (int look = 1; look <= 2; ++look) {
        SCOPED_TRACE(look);
        const std::string name = fmt::format("late{}", look);
        SendResult sent = SendResult::NotFound;
        world_.run(
            {"tasks", look},
            [&] { sent = send_one(world_.gated(), mail_of(1, name)); },
            [&] {
                const std::int64_t revision = world_.open().load(id_of(1))->revision;
                const Change change{.revision = revision, .received = {{"r1", 0}}};
                EXPECT_EQ(commit_one(world_.open(), change), CommitResult::Committed);
            }
        );
        EXPECT_EQ(sent, SendResult::Sent);
        expect_left({name});
        const std::int64_t revision = world_.open().load(id_of(1))->revision;
        const Change rest{.revision = revision, .received = {{name, 0}}};
        EXPECT_EQ(commit_one(world_.open(), rest), CommitResult::Committed);
        send_one(world_.open(), mail_of(1, "r1"));
        claim(world_.open(), "w1", {});
    }
}

TEST_P(MailRaces, of_two_receivers_one_decides) {
    EXPECT_EQ(receive(world_.gated()), CommitResult::Committed);
    EXPECT_EQ(receive(world_.open()), CommitResult::Conflict);
    expect_left({});
}

TEST_P(MailRaces, an_open_transaction_of_a_sender_is_waited_for) {
    const std::unique_ptr<PGconn, void (*)(PGconn*)> app(
        PQconnectdb(world_.url(false).c_str()), PQfinish
    );
    const auto run = [&](const std::string& sql) {
        const std::unique_ptr<PGresult, void (*)(PGresult*)> result(
            PQexec(app.get(), sql.c_str()), PQclear
        );
        ASSERT_EQ(std::string(PQresultErrorMessage(result.get())), "") << sql;
    };
    run("BEGIN");
    const auto borrowed = world_.open().borrow(Transaction(app.get()));
    EXPECT_EQ(borrowed->send(mail_of(1, "late")), SendResult::Sent);
    Call commit([&] { EXPECT_EQ(receive(world_.gated()), CommitResult::Committed); });
    EXPECT_FALSE(commit.has_ended_within(std::chrono::milliseconds(100)));
    run("COMMIT");
    commit.join();
    expect_left({"late"});
}

TEST_P(MailRaces, senders_and_receivers_at_once_lose_nothing) {
    constexpr int kSenders = 3;
    constexpr int kEach = 20;
    constexpr int kAll = kSenders * kEach + 1;
    world_.open().release({"w1", kStart}, std::vector<TaskRef>{{id_of(1), kMailTask}});
    std::barrier begin(kSenders + 2);
    std::atomic<int> received = 0;
    std::vector<std::thread> threads;
    for (int n = 0; n < kSenders; ++n) {
        threads.emplace_back([&, n] {
            begin.arrive_and_wait();
            for (int i = 0; i < kEach; ++i) {
                send_one(world_.open(), mail_of(1, fmt::format("s{}-{}", n, i)));
            }
        });
    }
    for (const char* worker : {"w1", "w2"}) {
        threads.emplace_back([&, worker] {
            begin.arrive_and_wait();
            while (received < kAll) {
                for (const Claim& each : claim(world_.open(), worker, {})) {
                    Change change{.revision = each.instance.revision};
                    for (const Mail& mail : each.mail) change.received.push_back(mail.key);
                    if (commit_one(world_.open(), change) != CommitResult::Committed) {
                        world_.open().release({worker, kStart}, std::vector<TaskRef>{each.task});
                        continue;
                    }
                    received += static_cast<int>(each.mail.size());
                }
            }
        });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(received, kAll) << "some mail was decided twice";
    EXPECT_TRUE(world_.open().tasks(id_of(1)).empty());
    expect_left({});
}

}  // namespace
}  // namespace ebb::testing
