// Commands that wait for an instance keep waiting while the database does not answer. If they have
// to give up, they say how to continue. Method: a store is unreachable from a given call on, until
// the test reads the command's message about it and restores it.

#include "cli/patience.h"

#include <atomic>

#include <ebb/engine.h>

#include "cli/open_store.h"
#include "cli_world.h"
#include "support/store_decorator.h"
#include "workflows.h"

namespace ebb::cli::testing {
namespace {

using ebb::testing::StoreDecorator;
using ebb::testing::StoreVerb;
using ::testing::HasSubstr;
using ::testing::Not;

struct Outage {
    StoreVerb verb = StoreVerb::Load;
    int nth = 1;  ///< the first call that gets no answer
    ErrorCode code = ErrorCode::StoreUnavailable;
    std::atomic<bool> is_over{false};
    std::atomic<int> calls{0};
};

class OutageStore final : public StoreDecorator {
 public:
    OutageStore(StorePtr inner, Outage& outage)
        : StoreDecorator(*inner), owned_(std::move(inner)), outage_(outage) {}

 protected:
    void before(StoreVerb verb) override {
        if (verb != outage_.verb || outage_.is_over) return;
        if (++outage_.calls >= outage_.nth) throw Error(outage_.code, "No answer.");
    }

 private:
    StorePtr owned_;
    Outage& outage_;
};

std::size_t count_of(const std::string& text, const std::string& part) {
    std::size_t count = 0;
    for (std::size_t at = 0; (at = text.find(part, at)) != std::string::npos; ++at) ++count;
    return count;
}

class CliPatience : public ::testing::Test {
 protected:
    std::string start(std::string_view workflow) {
        std::string id = world.run_db({"start", world.file("w.yaml", workflow)}).out;
        id.pop_back();
        return id;
    }

    void disturb(StoreVerb verb, int nth) {
        outage.verb = verb;
        outage.nth = nth;
        world.wrap_store = [this](StorePtr store) {
            return StorePtr(new OutageStore(std::move(store), outage));
        };
    }

    /// As soon as the command reports the outage, another process cancels the instance, and the
    /// database comes back.
    void mend_and_cancel(const std::string& id) {
        world.on_err = [this, id](const std::string& err, Interrupts&) {
            if (outage.is_over || err.find("out of reach") == std::string::npos) return;
            const StorePtr store = open_store(world.path("ebb.db"), OpenMode::MustExist);
            const HandlerRegistry none;
            Engine(*store, none).cancel(*InstanceId::parse(id));
            outage.is_over = true;
        };
    }

    CliWorld world;
    Outage outage;
};

TEST_F(CliPatience, wait_continues_until_the_database_answers_again) {
    const std::string id = start(kSignal);
    disturb(StoreVerb::Load, 3);
    mend_and_cancel(id);
    const Outcome outcome = world.run_db({"wait", id});
    EXPECT_EQ(outcome.code, 1) << outcome.err;
    EXPECT_EQ(outcome.out, "cancelled\n");
    EXPECT_EQ(count_of(outcome.err, "out of reach"), 1U) << outcome.err;
    EXPECT_EQ(count_of(outcome.err, "answers again"), 1U) << outcome.err;
}

TEST_F(CliPatience, wait_that_runs_out_of_time_says_how_to_continue) {
    const std::string id = start(kSignal);
    disturb(StoreVerb::Load, 3);
    const Outcome outcome = world.run_db({"wait", id, "--timeout", "200ms"});
    EXPECT_EQ(outcome.code, 6) << outcome.err;
    EXPECT_THAT(outcome.err, HasSubstr(id + " has not ended within 0.2s, as far as is known"));
    EXPECT_THAT(outcome.err, HasSubstr("`ebb wait " + id + " --db "));
    EXPECT_THAT(outcome.err, HasSubstr("`ebb run --resume " + id));
    outage.calls = 0;
    const Outcome json = world.run_db({"wait", id, "--timeout", "200ms", "--json"});
    EXPECT_EQ(json.code, 6);
    const Json error = Json::parse(json.err)["error"];
    EXPECT_EQ(error["code"], "timeout");
    EXPECT_THAT(error["hint"].get<std::string>(), HasSubstr(id));
}

TEST_F(CliPatience, wait_that_ends_too_early_gives_the_state_as_well_as_the_error) {
    const std::string id = start(kSignal);
    const Outcome json = world.run_db({"wait", id, "--timeout", "10ms", "--json"});
    EXPECT_EQ(json.code, 6);
    EXPECT_EQ(Json::parse(json.out)["status"], "running");
    const Json error = Json::parse(json.err)["error"];
    EXPECT_EQ(error["code"], "timeout");
    EXPECT_THAT(error["hint"].get<std::string>(), HasSubstr("`ebb why " + id));
    const Outcome plain = world.run_db({"wait", id, "--timeout", "10ms"});
    EXPECT_EQ(plain.code, 6);
    EXPECT_EQ(plain.out, "running\n");
    EXPECT_THAT(plain.err, HasSubstr("ebb: timeout: "));
    EXPECT_THAT(plain.err, HasSubstr("has not ended within 10ms.\nhint: `ebb why "));
}

TEST_F(CliPatience, an_error_that_waiting_does_not_fix_ends_the_wait_and_says_how_to_continue) {
    const std::string id = start(kSignal);
    disturb(StoreVerb::Load, 3);
    outage.code = ErrorCode::StoreError;
    const Outcome outcome = world.run_db({"wait", id});
    EXPECT_EQ(outcome.code, 5);
    EXPECT_THAT(outcome.err, HasSubstr("No answer. The instance " + id + " is kept"));
    EXPECT_THAT(outcome.err, Not(HasSubstr("out of reach")));
}

TEST_F(CliPatience, a_worker_that_stops_when_nothing_is_due_fails_if_it_cannot_know) {
    const std::string file = world.file("hello.yaml", kHello);
    world.run_db({"start", file, "-i", "\"a\""});
    disturb(StoreVerb::Claim, 1);
    const Outcome failed = world.run_db({"worker", file, "--once"});
    EXPECT_EQ(failed.code, 5) << failed.err;
    EXPECT_THAT(failed.err, HasSubstr("The database failed before all due work was done."));
    outage.is_over = true;
    const Outcome done = world.run_db({"worker", file, "--once"});
    EXPECT_EQ(done.code, 0) << done.err;
    EXPECT_THAT(done.err, HasSubstr("event=completed"));
}

TEST_F(CliPatience, start_that_waits_has_the_id_in_its_error) {
    const std::string file = world.file("w.yaml", kSignal);
    disturb(StoreVerb::Load, 1);
    const Outcome outcome = world.run_db({"start", file, "--wait", "--timeout", "200ms", "--json"});
    EXPECT_EQ(outcome.code, 6) << outcome.err;
    const std::string hint = Json::parse(outcome.err)["error"]["hint"].get<std::string>();
    outage.is_over = true;
    std::string id = world.run_db({"list", "--ids"}).out;
    id.pop_back();
    EXPECT_THAT(hint, HasSubstr("`ebb wait " + id));
}

TEST_F(CliPatience, an_interrupted_wait_says_how_to_continue) {
    const std::string id = start(kSignal);
    disturb(StoreVerb::Load, 3);
    world.on_err = [](const std::string&, Interrupts& interrupts) { interrupts.interrupt(2); };
    const Outcome outcome = world.run_db({"wait", id});
    EXPECT_EQ(outcome.code, 130);
    EXPECT_THAT(outcome.err, HasSubstr("`ebb wait " + id));
}

TEST_F(CliPatience, run_continues_until_the_database_answers_again) {
    const std::string file = world.file("h.yaml", kHello);
    disturb(StoreVerb::History, 1);
    world.on_err = [this](const std::string& err, Interrupts&) {
        if (err.find("out of reach") != std::string::npos) outage.is_over = true;
    };
    const Outcome outcome = world.run_db({"run", file, "--input", "\"Bob\""});
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_EQ(outcome.out, "\"Hello, Bob!\"\n");
    EXPECT_EQ(count_of(outcome.err, "out of reach"), 1U) << outcome.err;
    EXPECT_EQ(count_of(outcome.err, "answers again"), 1U) << outcome.err;
}

TEST_F(CliPatience, run_that_runs_out_of_time_says_how_to_continue) {
    const std::string file = world.file("w.yaml", kSignal);
    disturb(StoreVerb::History, 1);
    const Outcome outcome = world.run_db({"run", file, "--timeout", "200ms", "--json", "-q"});
    EXPECT_EQ(outcome.code, 6) << outcome.err;
    const Json error = Json::parse(outcome.err)["error"];
    EXPECT_EQ(error["code"], "timeout");
    outage.is_over = true;
    std::string id = world.run_db({"list", "--ids"}).out;
    id.pop_back();
    EXPECT_THAT(error["hint"].get<std::string>(), HasSubstr("`ebb run --resume " + id));
    EXPECT_THAT(error["message"].get<std::string>(), HasSubstr("The instance " + id));
}

TEST(Patience, leaves_the_store_alone_longer_every_time) {
    std::vector<std::string> told;
    Patience patience([&](const std::string& text) { told.push_back(text); });
    const auto fail = [] { throw Error(ErrorCode::StoreBusy, "It is busy."); };
    std::vector<Duration> pauses;
    for (int i = 0; i < 8; ++i) {
        EXPECT_FALSE(patience.reach(fail));
        pauses.push_back(patience.pause());
    }
    EXPECT_EQ(pauses.front(), std::chrono::milliseconds(100));
    EXPECT_EQ(pauses.at(1), std::chrono::milliseconds(200));
    EXPECT_EQ(pauses.back(), std::chrono::seconds(5));
    EXPECT_EQ(told.size(), 1U);
    EXPECT_TRUE(patience.reach([] {}));
    EXPECT_FALSE(patience.failure());
    EXPECT_EQ(told.size(), 2U);
}

}  // namespace
}  // namespace ebb::cli::testing
