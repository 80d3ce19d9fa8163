// `ebb rules` as its users run it: `check` on files, `diff` on the instances of a database and of a
// server. Method: real processes over SQLite, PostgreSQL and `--server`, which must say the same.

#include <csignal>
#include <fstream>
#include <regex>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <ebb/clock.h>

#include "cli_process.h"
#include "store/postgres/postgres_store.h"
#include "store/sqlite/sqlite_store.h"
#include "support/os_file.h"
#include "support/postgres_server.h"

namespace ebb::cli::testing {
namespace {

using ::testing::HasSubstr;
using Json = nlohmann::json;
using Args = std::vector<std::string>;

constexpr std::string_view kOrder = R"(workflow: order
version: 1
rules:
  evolution: follow
  on_idle: wait
  attributes:
    phase: {default: open, external: true}
    total: {type: integer, default: 0, external: true}
  triggers:
    bill: {when: phase = 'packed', writes: {phase: [billed]}}
  final: {done: phase = 'billed'}
)";

/// `bill` fires at another phase, `remind` is new, and an expensive order is an exception.
constexpr std::string_view kNewer = R"(workflow: order
version: 2
rules:
  evolution: follow
  on_idle: wait
  attributes:
    phase: {default: open, external: true}
    total: {type: integer, default: 0, external: true}
  triggers:
    bill: {when: phase = 'sent', writes: {phase: [billed]}}
    remind: {when: phase = 'open' and total > 0, writes: [], mode: once}
  final: {done: phase = 'billed'}
  exceptions: {expensive: total > 1000}
)";

constexpr std::string_view kFaulty = R"(workflow: faulty
rules:
  attributes:
    phase: {default: new, external: true}
    note: text
  triggers:
    never: {when: phase = 'new' and phase = 'old', writes: {phase: [done]}}
    again: {when: phase = 'new', writes: []}
  final: {done: phase = 'done'}
)";

class CliRules : public ::testing::Test {
 protected:
    struct Outcome {
        int code = -1;
        std::string out;
        std::string err;
    };

    Outcome run(const Args& args, const std::string& db = "ebb.db") const {
        CliProcess process(directory_.path().string(), args, db);
        Outcome outcome;
        outcome.code = process.wait();
        outcome.out = process.out();
        outcome.err = process.err();
        return outcome;
    }

    std::string good(const Args& args, const std::string& db = "ebb.db") const {
        const Outcome outcome = run(args, db);
        EXPECT_EQ(outcome.code, 0) << outcome.err << outcome.out;
        return outcome.out;
    }

    std::string file(const std::string& name, std::string_view text) const {
        std::ofstream(directory_.path() / name) << text;
        return name;
    }

    /// An order that would be reminded, one that would be an exception, and one that stays as it
    /// is.
    void start_orders(const std::string& db) const {
        for (const char* input : {R"({"total":5})", R"({"total":5000})", R"({"phase":"draft"})"}) {
            good({"start", "order.yaml", "-i", input}, db);
        }
    }

    /// What the command says, without the ids.
    static std::string without_ids(const std::string& text) {
        const std::regex id("[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f-]{22}");
        return std::regex_replace(text, id, "<id>");
    }

    TempDirectory directory_;
};

constexpr const char* kOfLive =
    "order v1 and v2: 4 changes; evolution: follow (live instances continue on the newer "
    "version)\n";

void expect_live(const std::string& told) {
    EXPECT_THAT(told, HasSubstr(kOfLive));
    EXPECT_THAT(told, HasSubstr("3 live instances of v1 examined, 2 would change\n"));
    EXPECT_THAT(told, HasSubstr("  <id>: fires remind\n"));
    EXPECT_THAT(told, HasSubstr("  <id>: is in the exception expensive\n"));
}

// An attribute has another type and name, and an exception another condition.
TEST_F(CliRules, diff_counts_who_leaves_an_exception_and_who_stays) {
    const std::string older = R"(workflow: order
version: 1
rules:
  evolution: follow
  on_idle: wait
  attributes: {price: {external: true}, state: {external: true}}
  triggers: {bill: {when: state = 'open', writes: []}}
  exceptions: {bad: state = 'bad'}
  final: {done: state = 'done'}
)";
    std::string newer = std::regex_replace(older, std::regex("version: 1"), "version: 2");
    newer = std::regex_replace(
        newer, std::regex("price: .external"), "cost: {type: integer, renamed_from: price, external"
    );
    newer = std::regex_replace(newer, std::regex("'bad'"), "'worse'");
    file("order.yaml", older);
    file("newer.yaml", newer);
    good({"start", "order.yaml", "-i", R"({"state":"bad"})"});
    good({"start", "order.yaml", "-i", R"({"state":"open","price":"dear"})"});
    good({"start", "order.yaml", "--key", "A", "-i", R"({"state":"open"})"});
    const std::string shown = without_ids(good({"rules", "diff", "order.yaml", "newer.yaml"}));
    EXPECT_THAT(
        shown,
        HasSubstr("3 live instances of v1 examined, 1 would change, 1 stays on its version\n")
    );
    EXPECT_THAT(shown, HasSubstr("  <id>: is no longer in the exception bad\n"));
    EXPECT_THAT(
        shown,
        HasSubstr("  <id>: stays on its version: Its attribute \"cost\" cannot be converted to "
                  "integer.\n")
    );
    const auto live =
        Json::parse(good({"rules", "diff", "order.yaml", "newer.yaml", "--json"}))["live"];
    ASSERT_EQ(live["changed"].size(), 1U);
    EXPECT_EQ(live["changed"][0]["left_exception"], "bad");
    ASSERT_EQ(live["stays"].size(), 1U);
    EXPECT_EQ(live["stays"][0]["fault"], "Its attribute \"cost\" cannot be converted to integer.");
}

TEST_F(CliRules, write_knows_earlier_names) {
    file("order.yaml", R"(workflow: order
rules:
  on_idle: wait
  attributes: {cost: {type: integer, renamed_from: price, external: true}, state: {}}
  triggers: {bill: {when: state = 'open', writes: []}}
)");
    good({"start", "order.yaml", "--key", "A", "-i", R"({"state":"open"})"});
    // NAME=VALUE is read by the type of the attribute.
    good({"write", "key:order/A", "price=200"});
    EXPECT_THAT(good({"show", "key:order/A", "--json"}), HasSubstr(R"("cost":200)"));
}

TEST_F(CliRules, check_names_each_finding_with_its_place) {
    const Outcome outcome = run({"rules", "check", file("faulty.yaml", kFaulty)});
    EXPECT_EQ(outcome.code, 1);
    EXPECT_THAT(outcome.err, HasSubstr("faulty.yaml:7:"));
    EXPECT_THAT(outcome.err, HasSubstr("dead_rule"));
    EXPECT_THAT(outcome.out, HasSubstr("faulty v1 has "));
}

TEST_F(CliRules, check_tells_programs_the_same) {
    const Outcome outcome = run({"rules", "check", file("faulty.yaml", kFaulty), "--json"});
    EXPECT_EQ(outcome.code, 1);
    const Json told = Json::parse(outcome.out);
    EXPECT_EQ(told.at("workflow"), "faulty");
    EXPECT_EQ(told.at("complete"), true);
    std::map<std::string, std::string> found;
    for (const Json& finding : told.at("findings")) {
        found[finding.at("code").get<std::string>()] = finding.at("pointer").get<std::string>();
        EXPECT_GT(finding.at("line"), 0) << finding;
    }
    const std::map<std::string, std::string> wanted{
        {"dead_rule", "/rules/triggers/0/when"},
        {"stuck", "/rules/triggers/1/when"},
        {"unread_attribute", "/rules/attributes/1"},
    };
    EXPECT_EQ(found, wanted);
}

TEST_F(CliRules, check_is_content_with_sound_rules_and_plays_them) {
    const std::string told = good(
        {"rules",
         "check",
         file("order.yaml", kOrder),
         "--strict",
         "--explore",
         "100",
         "-i",
         R"({"phase":"packed"})"}
    );
    EXPECT_THAT(told, HasSubstr("order v1 has 0 findings"));
    EXPECT_THAT(told, HasSubstr("  completed: done: 1 way {\"phase\":\"billed\",\"total\":0}\n"));
}

TEST_F(CliRules, check_reads_a_registered_version) {
    file("order.yaml", kOrder);
    file("newer.yaml", kNewer);
    file("faulty.yaml", kFaulty);
    for (const std::string& db :
         {directory_.path().string() + "/check.db",
          ebb::testing::postgres_server().url() + "&schema=" + ebb::testing::fresh_schema()}) {
        SCOPED_TRACE(db);
        for (const char* name : {"order.yaml", "newer.yaml", "faulty.yaml"})
            good({"start", name}, db);
        EXPECT_THAT(
            good({"rules", "check", "order@1"}, db), HasSubstr("order@1: order v1 has 0 findings")
        );
        EXPECT_THAT(
            good({"rules", "check", "order"}, db), HasSubstr("order: order v2 has 0 findings")
        );
        const Outcome faulty = run({"rules", "check", "faulty@1"}, db);
        EXPECT_EQ(faulty.code, 1);
        EXPECT_THAT(faulty.out, HasSubstr("faulty@1: faulty v1 has 3 findings"));
        EXPECT_THAT(faulty.err, HasSubstr("faulty@1:10:13: error: The condition of the trigger"));
        const Outcome missing = run({"rules", "check", "order@9"}, db);
        EXPECT_EQ(missing.code, 3);
        EXPECT_THAT(missing.err, HasSubstr("There is no version 9 of the workflow \"order\"."));
        const Outcome strange = run({"rules", "check", "order@x"}, db);
        EXPECT_EQ(strange.code, 2);
        EXPECT_THAT(strange.err, HasSubstr("\"x\" is not a version. Write a number from 1 to"));
    }
}

TEST_F(CliRules, check_says_what_it_cannot_check) {
    const std::string steps = file("steps.yaml", "workflow: w\nsteps: [a]\n");
    const Outcome outcome = run({"rules", "check", steps});
    EXPECT_EQ(outcome.code, 2);
    EXPECT_THAT(outcome.err, HasSubstr("steps.yaml has steps and no rules"));
    const Outcome refused =
        run({"rules", "check", file("order.yaml", kOrder), "-i", R"({"nothing":1})"});
    EXPECT_EQ(refused.code, 2);
    EXPECT_THAT(
        refused.err, HasSubstr("There is no attribute \"nothing\"; there are phase and total.")
    );
}

/// As a newer Ebb, or a flow in SQL, may have left it.
void add_unreadable(const std::string& db) {
    const SystemClock clock;
    const std::size_t at = db.find("&schema=");
    const StorePtr store =
        at == std::string::npos
            ? make_sqlite_store({.path = db}, clock)
            : make_postgres_store({.url = db.substr(0, at), .schema = db.substr(at + 8)}, clock);
    store->register_workflow({
        .name = "toy",
        .version = 3,
        .definition = R"({"workflow":"toy","version":3,"rules":{"attributes":[{"attribute":"a"}],)"
                      R"("triggers":[{"trigger":"t","when":"vnot a vis vnull"}]}})",
        .checksum = "of a newer one",
        .created_at = clock.now(),
    });
}

TEST_F(CliRules, a_version_that_cannot_be_read_keeps_no_process_from_starting) {
    file("hello.yaml", "workflow: hello\nhandlers: {greet: {exec: [cat]}}\nsteps: [greet]\n");
    for (const std::string& db :
         {directory_.path().string() + "/toy.db",
          ebb::testing::postgres_server().url() + "&schema=" + ebb::testing::fresh_schema()}) {
        SCOPED_TRACE(db);
        good({"start", "hello.yaml"}, db);
        add_unreadable(db);
        const std::string place = "/rules/triggers/0/when: ";
        for (const Args& args : std::vector<Args>{
                 {"worker", "--once", "--allow-exec", "--json"},
                 {"worker", "hello.yaml", "--once", "--json"}
             }) {
            const Outcome worked = run(args, db);
            EXPECT_EQ(worked.code, 0) << worked.err;
            EXPECT_THAT(worked.out, HasSubstr("workflow_unreadable"));
            EXPECT_THAT(worked.out, HasSubstr(R"("workflow":"toy","version":"3")"));
            EXPECT_THAT(worked.out, HasSubstr("\"error\":\"" + place));
        }
        EXPECT_THAT(good({"list", "--json"}, db), HasSubstr("completed"));
        const Outcome doctor = run({"doctor"}, db);
        EXPECT_EQ(doctor.code, 1);
        EXPECT_THAT(doctor.out, HasSubstr("this ebb cannot read 1 version: toy v3: " + place));
        const Outcome started = run({"start", "toy"}, db);
        EXPECT_EQ(started.code, 5);
        EXPECT_THAT(
            started.err, HasSubstr("cannot read the stored definition of toy version 3: " + place)
        );

        CliProcess server(
            directory_.path().string(),
            {"serve", "--no-auth", "--listen", "127.0.0.1:0", "--json"},
            db
        );
        ASSERT_TRUE(server.wait_for("\"event\":\"serving\"")) << server.err();
        EXPECT_THAT(server.out(), HasSubstr("workflow_unreadable"));
        const std::string url = Json::parse([&] {
                                    const std::string out = server.out();
                                    const std::size_t at = out.find("\"event\":\"serving\"");
                                    const std::size_t begin = out.rfind('\n', at) + 1;
                                    return out.substr(begin, out.find('\n', at) - begin);
                                }())
                                    .at("url")
                                    .get<std::string>();
        EXPECT_THAT(good({"workflows", "--server", url}, ""), HasSubstr("toy"));
        const Outcome asked = run({"start", "toy", "--server", url}, "");
        EXPECT_THAT(
            asked.err, HasSubstr("cannot read the stored definition of toy version 3: " + place)
        );
        server.signal(SIGTERM);
        EXPECT_EQ(server.wait(), 0);
    }
}

TEST_F(CliRules, diff_of_two_files_needs_no_database) {
    file("order.yaml", kOrder);
    file("newer.yaml", kNewer);
    const std::string told = good({"rules", "diff", "order.yaml", "newer.yaml"}, "");
    EXPECT_EQ(
        told,
        std::string(kOfLive) +
            "  The condition of the trigger \"bill\" is true for more values.\n"
            "    for example if phase = 'sent'\n"
            "  The condition of the trigger \"bill\" is true for fewer values.\n"
            "    for example if phase = 'packed'\n"
            "  The trigger \"remind\" is new: phase = 'open' and total > 0.\n"
            "  The exception \"expensive\" is new: total > 1000.\n"
    );
}

TEST_F(CliRules, diff_examines_the_instances_of_a_file) {
    file("order.yaml", kOrder);
    file("newer.yaml", kNewer);
    start_orders("ebb.db");
    expect_live(without_ids(good({"rules", "diff", "order@1", "newer.yaml"})));
}

TEST_F(CliRules, diff_says_the_same_of_postgresql_and_through_a_server) {
    const std::string db =
        ebb::testing::postgres_server().url() + "&schema=" + ebb::testing::fresh_schema();
    file("order.yaml", kOrder);
    file("newer.yaml", kNewer);
    start_orders(db);
    const std::string told = good({"rules", "diff", "order@1", "newer.yaml"}, db);
    expect_live(without_ids(told));

    CliProcess server(
        directory_.path().string(), {"serve", "--no-auth", "--listen", "127.0.0.1:0", "--json"}, db
    );
    ASSERT_TRUE(server.wait_for("\"event\":\"serving\"")) << server.err();
    const std::string line = server.out().substr(0, server.out().find('\n'));
    const std::string url = Json::parse(line).at("url").get<std::string>();
    EXPECT_EQ(good({"rules", "diff", "order@1", "newer.yaml", "--server", url}, ""), told);
    const Json asked =
        Json::parse(good({"rules", "diff", "order@1", "newer.yaml", "--server", url, "--json"}, "")
        );
    EXPECT_EQ(asked.at("live").at("examined"), 3);
    EXPECT_EQ(asked.at("live").at("changed").size(), 2U);
    server.signal(SIGTERM);
    EXPECT_EQ(server.wait(), 0);
}

TEST_F(CliRules, a_registered_workflow_is_installed_and_uninstalled) {
    const std::string db =
        ebb::testing::postgres_server().url() + "&schema=" + ebb::testing::fresh_schema();
    file("parcel.yaml", std::regex_replace(std::string(kOrder), std::regex("order"), "parcel"));
    good({"start", "parcel.yaml", "-i", R"({"total":5})"}, db);
    const Outcome early = run({"rules", "install", "parcel"}, db);
    EXPECT_EQ(early.code, 5);
    EXPECT_THAT(early.err, HasSubstr("run `ebb migrate --rules-sql`"));
    good({"migrate", "--rules-sql"}, db);
    EXPECT_EQ(
        good({"rules", "install", "parcel", "--dialect", "wed"}, db),
        "Made the schema parcel: version 1, with 1 instance in parcel.wed_flow.\n"
    );
    good({"start", "parcel", "-i", R"({"total":6})"}, db);
    const Json again = Json::parse(good({"rules", "install", "parcel", "--json"}, db));
    EXPECT_EQ(
        again, Json::parse(R"({"flow": "parcel", "version": 1, "instances": 2, "is_new": false,
            "dialect": "ebb", "role": null})")
    );
    const Outcome unsure = run({"rules", "uninstall", "parcel"}, db);
    EXPECT_EQ(unsure.code, 2);
    EXPECT_THAT(unsure.err, HasSubstr("Add --yes to do it."));
    EXPECT_EQ(
        Json::parse(good({"rules", "uninstall", "parcel", "--yes", "--json"}, db)),
        Json::parse(R"({"flow": "parcel", "version": 1, "rows": 2, "live": 2})")
    );
    EXPECT_THAT(
        run({"rules", "uninstall", "parcel", "--yes"}, db).err,
        HasSubstr("There is no flow \"parcel\".")
    );
    EXPECT_THAT(
        run({"rules", "install", "parcel"}, db).err,
        HasSubstr("invalid_argument: There is already a schema \"parcel\". A flow has")
    );
}

TEST_F(CliRules, only_a_workflow_in_postgresql_is_installed) {
    EXPECT_THAT(
        run({"rules", "install", "order"}).err,
        HasSubstr("`ebb rules install` needs --db postgresql")
    );
    EXPECT_THAT(
        run({"rules", "uninstall", "order"}).err,
        HasSubstr("`ebb rules uninstall` needs --db postgresql")
    );
    EXPECT_THAT(
        run({"rules", "install"}).err,
        HasSubstr("`ebb rules install` needs the name of one workflow")
    );
    EXPECT_EQ(run({"rules", "install", "order", "--dialect", "sql"}).code, 2);
}

TEST_F(CliRules, diff_stops_at_its_limit_and_says_so) {
    file("order.yaml", kOrder);
    file("newer.yaml", kNewer);
    start_orders("ebb.db");
    EXPECT_THAT(
        good({"rules", "diff", "order@1", "newer.yaml", "--limit", "2"}),
        HasSubstr("2 live instances of v1 examined (there are more: raise --limit)")
    );
}

}  // namespace
}  // namespace ebb::cli::testing
