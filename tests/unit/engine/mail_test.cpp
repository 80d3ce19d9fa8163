// Goal: an engine decides mail exactly once, whatever goes wrong with the store while it does.
// Method: each call of a verb fails in each way, one after another; then an engine without faults
// finishes the work. The history says how often the mail was decided.

#include <gtest/gtest.h>

#include <ebb/builder.h>
#include <ebb/engine.h>
#include <ebb/handler.h>

#include "call/mail_text.h"
#include "store/memory/memory_store.h"
#include "support/clock.h"
#include "support/store_faulty.h"
#include "support/store_samples.h"

namespace ebb::testing {
namespace {

using namespace std::chrono_literals;
using Kind = Fault::Kind;

/// An instance with three pieces of mail. It keeps signals that come before it waits for them.
class MailWorld {
 public:
    MailWorld() {
        Engine client(store_, none_, options("client"));
        client.register_workflow(
            WorkflowBuilder("order").signal("early").signal("late").signal("paid").build()
        );
        id_ = client.start("order").id;
        for (const char* name : {"early", "late", "paid"}) {
            const Event event = event::SignalReceived{name, Payload::text("1"), {}};
            const Mail mail{
                .to = id_,
                .key = {.sender = name},
                .kind = std::string(mail_kind(event)),
                .body = encode_mail(event)
            };
            EXPECT_EQ(send_one(store_, mail), SendResult::Sent);
        }
    }

    /// False: the fault has not happened, because there were fewer calls.
    bool work_with(const Fault& fault) {
        FaultyStore faulty(store_);
        faulty.plan(fault);
        {
            Engine engine(faulty, none_, options("w1"));
            work(engine);
        }
        return faulty.is_exhausted();
    }

    /// Another worker, after the lease of the first one.
    void finish() {
        Engine engine(store_, none_, options("w2"));
        for (int i = 0; i < 5; ++i) {
            clock_.advance(2min);
            work(engine);
        }
    }

    void expect_decided_once() {
        int signals = 0;
        HistoryQuery query;
        query.instance = id_;
        for (const HistoryEvent& event : store_.history(query)) {
            signals += event.type == HistoryType::SignalReceived ? 1 : 0;
        }
        EXPECT_EQ(signals, 3);
        EXPECT_EQ(store_.load(id_)->status, InstanceStatus::Completed);
        EXPECT_TRUE(store_.tasks(id_).empty());
    }

 private:
    static EngineOptions options(const char* name) { return {.worker_id = name, .threads = 1}; }

    static void work(Engine& engine) {
        try {
            for (int i = 0; i < 3; ++i) engine.poll();
        } catch (const SimulatedCrash&) {
        } catch (const Error&) {
        }
    }

    ManualClock clock_{kStart};
    MemoryStore store_{clock_};
    const HandlerRegistry none_;
    InstanceId id_;
};

TEST(EngineMail, is_decided_once_whatever_goes_wrong) {
    for (const StoreVerb verb : {StoreVerb::Claim, StoreVerb::Commit}) {
        for (const Kind kind : {Kind::Unavailable, Kind::Busy, Kind::NeverArrived, Kind::InDoubt}) {
            int calls = 0;
            for (int nth = 1; nth <= 50; ++nth) {
                SCOPED_TRACE(fmt::format(
                    "verb {} kind {} call {}", static_cast<int>(verb), static_cast<int>(kind), nth
                ));
                MailWorld world;
                if (!world.work_with({.kind = kind, .nth = nth, .verb = verb})) break;
                ++calls;
                world.finish();
                world.expect_decided_once();
            }
            EXPECT_GT(calls, 0);
        }
    }
}

TEST(EngineMail, is_decided_without_any_fault) {
    MailWorld world;
    world.finish();
    world.expect_decided_once();
}

}  // namespace
}  // namespace ebb::testing
