// Goal: hints reach only the other processes of the same schema, and a process that cannot hear
// them learns it.
// Method: several listeners over a real server, each waiting for what must come.

#include "store/postgres/listener.h"

#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ebb/error.h>

#include "store/postgres/postgres_store.h"
#include "support/clock.h"
#include "support/postgres_server.h"

namespace ebb::testing {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

struct Listening : ::testing::Test {
    SystemClock clock;
    const std::string schema = fresh_schema();
    StorePtr store = open(schema);

    static StorePtr open(const std::string& in_schema) {
        return open_postgres_store({.url = postgres_server().url(), .schema = in_schema});
    }

    static void await_proof(Hints& hints) {
        while (!hints.receive(1min).is_proven) {
        }
    }

    static std::vector<std::string> await_message(Hints& hints) {
        while (true) {
            Hints::Heard heard = hints.receive(1min);
            if (!heard.messages.empty()) return heard.messages;
        }
    }
};

TEST_F(Listening, hears_what_others_of_its_schema_say_and_not_itself) {
    const StorePtr elsewhere = open(fresh_schema());
    const auto here = store->open_hints();
    const auto there = store->open_hints();
    const auto stranger = elsewhere->open_hints();
    await_proof(*here);
    here->send("of myself");
    stranger->send("of another schema");
    there->send("for you: \"\xC3\xA4\" '1'");
    EXPECT_THAT(await_message(*here), ElementsAre("for you: \"\xC3\xA4\" '1'"));
}

TEST_F(Listening, ends_at_once_when_it_is_interrupted_before_or_meanwhile) {
    const auto hints = store->open_hints();
    await_proof(*hints);
    hints->interrupt();
    EXPECT_THAT(hints->receive(1h).messages, ElementsAre());
    std::jthread other([&] { hints->interrupt(); });
    EXPECT_THAT(hints->receive(1h).messages, ElementsAre());
}

TEST_F(Listening, refuses_a_message_that_is_too_long) {
    const auto here = store->open_hints();
    const auto there = store->open_hints();
    await_proof(*here);
    const std::string longest(Hints::kMessageBytesMax, 'x');
    there->send(longest);
    EXPECT_THAT(await_message(*here), ElementsAre(longest));
    EXPECT_THROW(there->send(longest + "x"), Error);
}

TEST_F(Listening, says_that_its_session_was_cut_and_listens_again) {
    const auto here = store->open_hints();
    const auto there = store->open_hints();
    await_proof(*here);
    postgres_server().execute(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
        " WHERE query LIKE 'LISTEN%' AND pid <> pg_backend_pid()"
    );
    const auto receive_until_cut = [&] {
        while (true) here->receive(1min);
    };
    EXPECT_THROW(receive_until_cut(), Error);
    await_proof(*here);
    there->send("again");
    EXPECT_THAT(await_message(*here), ElementsAre("again"));
}

TEST_F(Listening, does_not_believe_in_a_session_that_never_hears_itself) {
    const postgres::Settings settings =
        postgres::read_settings({.url = postgres_server().url(), .schema = schema});
    // As behind a pooler: what is said does not come here.
    postgres::Listener listener(settings, [](const postgres::Arguments&) {});
    try {
        while (true) EXPECT_FALSE(listener.receive(1min).is_proven);
    } catch (const Error& error) {
        EXPECT_THAT(error.what(), HasSubstr("hears nothing"));
    }
}

}  // namespace
}  // namespace ebb::testing
