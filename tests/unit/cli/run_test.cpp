// `ebb run` as its user sees it, with handlers that are real programs.

#include <csignal>
#include <sstream>

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "cli_world.h"
#include "workflows.h"

namespace ebb::cli::testing {
namespace {

TEST(CliRun, prints_the_result_to_stdout_and_progress_to_stderr) {
    CliWorld world;
    const Outcome outcome =
        world.run({"run", world.file("hello.yaml", kHello), "--input", "\"world\""});
    EXPECT_EQ(outcome.code, 0);
    EXPECT_EQ(outcome.out, "\"Hello, world!\"\n");
    EXPECT_EQ(
        normal(world, outcome.err),
        "hello v1\n"
        "  ✓ greet (<t>)\n"
        "  ✓ shout (<t>)\n"
        "completed after <t>\n"
    );
}

/// Its samples are of the file: they are not part of a version.
std::string with_samples(const std::string& samples) {
    return "workflow: pay\ninput_schema: {type: object, required: [amount]}\nsamples: " + samples +
           "\nhandlers:\n  pay: {exec: [cat]}\nsteps:\n  - pay\n";
}

TEST(CliRun, prints_what_happens_as_lines_of_json) {
    CliWorld world;
    const Outcome outcome =
        world.run({"run", "--events", world.file("hello.yaml", kHello), "-i", "\"world\""});
    EXPECT_EQ(outcome.code, 0);
    std::istringstream lines(outcome.out);
    std::vector<nlohmann::json> all;
    for (std::string line; std::getline(lines, line);) all.push_back(nlohmann::json::parse(line));
    ASSERT_GE(all.size(), 5U);
    EXPECT_EQ(all.front()["workflow"], "hello");
    EXPECT_EQ(all.front()["is_new"], true);
    EXPECT_EQ(all.front()["id"], all.back()["id"]);
    EXPECT_EQ(all.back()["status"], "completed");
    EXPECT_EQ(all.back()["output"], "Hello, world!");
    std::vector<std::string> types;
    for (std::size_t i = 1; i + 1 < all.size(); ++i) {
        EXPECT_EQ(all[i]["seq"], i);
        types.push_back(all[i]["type"].get<std::string>());
    }
    EXPECT_THAT(
        types, ::testing::ElementsAre("started", "step_completed", "step_completed", "completed")
    );
}

TEST(CliRun, stubs_of_missing_handlers_return_their_input) {
    CliWorld world;
    const std::string file = world.file(
        "stubs.yaml",
        "workflow: stubs\nhandlers: {known: {exec: [jq, '{known: .}']}}\nsteps:\n"
        "  - step: far_away\n    compensate: undo\n  - known\n"
    );
    EXPECT_NE(world.run({"run", file, "-i", "7"}).code, 0);
    const Outcome outcome = world.run({"run", file, "-i", "7", "--stub", "echo"});
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_EQ(nlohmann::json::parse(outcome.out), nlohmann::json({{"known", 7}}));
    EXPECT_THAT(
        outcome.err,
        ::testing::HasSubstr("The handlers \"far_away\", \"undo\" only return the input.")
    );
    EXPECT_EQ(world.run({"run", file, "--stub", "parrot"}).code, 2);
}

TEST(CliRun, takes_a_sample_of_its_file) {
    CliWorld world;
    const std::string file = world.file("pay.yaml", with_samples("{small: {amount: 1}}"));
    const Outcome small = world.run({"run", "-q", file, "-i", "sample:small"});
    EXPECT_EQ(small.out, "{\"amount\":1}\n") << small.err;
    const Outcome wrong = world.run({"run", "-q", file, "-i", "sample:smal"});
    EXPECT_EQ(wrong.code, 2);
    EXPECT_THAT(wrong.err, ::testing::HasSubstr("no sample \"smal\". Did you mean \"small\"?"));
    const std::string db = world.path("pay.db");
    EXPECT_EQ(world.run({"start", file, "-i", "sample:small", "--db", db}).code, 0);
    // The same version with other samples.
    world.file("pay.yaml", with_samples("{other: {amount: 2}}"));
    const Outcome other = world.run({"start", file, "-i", "sample:other", "--db", db});
    EXPECT_EQ(other.code, 0) << other.err;
    const Outcome named = world.run({"start", "pay", "-i", "sample:other", "--db", db});
    EXPECT_THAT(named.err, ::testing::HasSubstr("but no file is given"));
    world.file("pay.yaml", with_samples("{other: {amuont: 2}}"));
    EXPECT_THAT(
        world.run({"validate", file}).err + world.run({"validate", file}).out,
        ::testing::HasSubstr("(invalid_sample)")
    );
}

TEST(CliRun, quiet_leaves_only_the_result) {
    CliWorld world;
    const Outcome outcome =
        world.run({"run", "-q", world.file("hello.yaml", kHello), "-i", "\"you\""});
    EXPECT_EQ(outcome.out, "\"Hello, you!\"\n");
    EXPECT_EQ(outcome.err, "");
}

TEST(CliRun, quiet_still_says_how_it_failed) {
    CliWorld world;
    const Outcome outcome = world.run({"run", "-q", world.file("saga.yaml", kSaga)});
    EXPECT_EQ(outcome.code, 1);
    EXPECT_TRUE(outcome.err.starts_with("failed after ")) << outcome.err;
    EXPECT_THAT(outcome.err, ::testing::HasSubstr(": charge: exit_65: the card was declined"));
    EXPECT_EQ(outcome.err.find('\n'), outcome.err.size() - 1);
}

TEST(CliRun, shows_how_it_rolls_back) {
    CliWorld world;
    const Outcome outcome = world.run({"run", world.file("saga.yaml", kSaga)});
    EXPECT_EQ(outcome.code, 1);
    EXPECT_EQ(outcome.out, "");
    EXPECT_EQ(
        normal(world, outcome.err),
        "saga v1\n"
        "  ✓ reserve (<t>)\n"
        "  ✗ charge (<t>) exit_65: the card was declined (the program \"sh\" of the handler "
        "\"charge\" exited with code 65)\n"
        "  · rolls back\n"
        "  ↩ release (<t>) undoes reserve\n"
        "failed after <t>: charge: exit_65\n"
    );
}

TEST(CliRun, needs_no_unicode) {
    CliWorld world;
    world.environment["LANG"] = "C";
    const Outcome outcome = world.run({"run", world.file("saga.yaml", kSaga)});
    for (const char c : outcome.err) EXPECT_EQ(c & 0x80, 0) << outcome.err;
    EXPECT_NE(outcome.err.find("<- release"), std::string::npos);
}

TEST(CliRun, json_is_one_document) {
    CliWorld world;
    const Outcome outcome = world.run({"run", world.file("saga.yaml", kSaga), "--json", "-q"});
    EXPECT_EQ(outcome.code, 1);
    const Json json = Json::parse(outcome.out);
    EXPECT_EQ(json["status"], "failed");
    EXPECT_EQ(json["error"]["code"], "exit_65");
    EXPECT_EQ(json["error"]["step"], "charge");
    ASSERT_EQ(json["steps"].size(), 2U);
    EXPECT_EQ(json["steps"][0]["status"], "compensated");
    EXPECT_EQ(json["steps"][1]["status"], "failed");
    EXPECT_EQ(outcome.err, "");
}

TEST(CliRun, reads_input_from_a_file_and_from_stdin) {
    CliWorld world;
    const std::string file = world.file("hello.yaml", kHello);
    EXPECT_EQ(
        world.run({"run", file, "-q", "--input", "@" + world.file("in.json", "\"file\"")}).out,
        "\"Hello, file!\"\n"
    );
    world.input = "\"stdin\"\n";
    EXPECT_EQ(world.run({"run", file, "-q", "--input", "-"}).out, "\"Hello, stdin!\"\n");
}

TEST(CliRun, bad_input_is_named_with_its_source) {
    CliWorld world;
    const std::string file = world.file("hello.yaml", kHello);
    const Outcome bad = world.run({"run", file, "--input", "{"});
    EXPECT_EQ(bad.code, 2);
    EXPECT_NE(bad.err.find("The value of --input is not valid JSON"), std::string::npos) << bad.err;
    EXPECT_NE(bad.err.find("ebb: invalid_payload: "), std::string::npos);
    const Outcome missing = world.run({"run", file, "--input", "@" + world.path("none.json")});
    EXPECT_EQ(missing.code, 2);
    EXPECT_NE(missing.err.find("none.json\" does not exist.\n"), std::string::npos);
    EXPECT_EQ(world.run({"run", world.path("none.yaml")}).code, 2);
    const std::string misspelled = world.run({"validate", world.path("helo.yaml")}).err;
    EXPECT_NE(misspelled.find("helo.yaml\" does not exist. Did you mean \""), std::string::npos);
    EXPECT_NE(misspelled.find("/hello.yaml\"? (invalid_argument)\n"), std::string::npos)
        << misspelled;
    EXPECT_EQ(world.run({"run", world.path("")}).code, 2);
}

TEST(CliRun, an_invalid_file_shows_its_problems) {
    CliWorld world;
    const Outcome outcome =
        world.run({"run", world.file("bad.yaml", "workflow: bad\nsteps:\n  - stepp: a\n")});
    EXPECT_EQ(outcome.code, 2);
    EXPECT_NE(outcome.err.find("bad.yaml:3:"), std::string::npos) << outcome.err;
    EXPECT_NE(outcome.err.find("^"), std::string::npos);
}

TEST(CliRun, missing_handlers_are_named_before_anything_starts) {
    CliWorld world;
    const std::string file = world.file("x.yaml", "workflow: x\nsteps: [a, b]\n");
    const Outcome outcome = world.run({"run", file});
    EXPECT_EQ(outcome.code, 3);
    EXPECT_NE(outcome.err.find("\"a\", \"b\""), std::string::npos) << outcome.err;
}

TEST(CliRun, keeps_its_work_in_the_database) {
    CliWorld world;
    const std::string file = world.file("hello.yaml", kHello);
    EXPECT_EQ(world.run_db({"run", file, "-i", "\"a\"", "--key", "k"}).code, 0);
    const Outcome again = world.run_db({"run", file, "-i", "\"b\"", "--key", "k"});
    EXPECT_EQ(again.code, 0);
    EXPECT_EQ(again.out, "\"Hello, a!\"\n");
    EXPECT_NE(again.err.find("already has this key and has ended\n"), std::string::npos);
    const std::string difference = "It was started with another input, which it keeps.\n";
    EXPECT_NE(again.err.find(difference), std::string::npos) << again.err;
}

TEST(CliRun, a_registered_version_never_changes) {
    CliWorld world;
    EXPECT_EQ(world.run_db({"run", world.file("a.yaml", kHello), "-i", "\"a\""}).code, 0);
    std::string changed(kHello);
    changed.replace(changed.find("Hello"), 5, "Howdy");
    const Outcome outcome = world.run_db({"run", world.file("b.yaml", changed), "-i", "\"a\""});
    EXPECT_EQ(outcome.code, 4);
    EXPECT_NE(outcome.err.find("ebb: workflow_conflict: "), std::string::npos);
    EXPECT_NE(outcome.err.find("hint: raise `version:`"), std::string::npos);
}

TEST(CliRun, interrupted_in_memory_it_rolls_back) {
    CliWorld world;
    const std::string_view workflow = R"(workflow: saga
handlers:
  reserve: {exec: ['true']}
  release: {exec: ['true']}
steps:
  - {step: reserve, compensate: release}
  - signal: never
)";
    bool is_interrupted = false;
    world.on_err = [&](const std::string& err, Interrupts& interrupts) {
        if (is_interrupted || err.find("waits for the signal") == std::string::npos) return;
        is_interrupted = true;
        interrupts.interrupt(SIGINT);
    };
    const Outcome outcome = world.run({"run", world.file("saga.yaml", workflow)});
    EXPECT_EQ(outcome.code, 130);
    EXPECT_NE(outcome.err.find("↩ release"), std::string::npos) << outcome.err;
    EXPECT_NE(outcome.err.find("cancelled after"), std::string::npos);
}

TEST(CliRun, interrupted_with_a_database_it_says_how_to_continue) {
    CliWorld world;
    const std::string file = world.file("parcel.yaml", kSignal);
    bool is_interrupted = false;
    world.on_err = [&](const std::string& err, Interrupts& interrupts) {
        if (is_interrupted || err.find("waits for the signal") == std::string::npos) return;
        is_interrupted = true;
        interrupts.interrupt(SIGTERM);
    };
    const Outcome outcome = world.run_db({"run", file});
    EXPECT_EQ(outcome.code, 143);
    EXPECT_EQ(
        normal(world, outcome.err),
        "parcel v1 <short>\n"
        "  ◷ delivered waits for the signal \"delivered\"\n"
        "Interrupted\n"
        "The instance is kept. Continue it with:\n"
        "  ebb run --resume <id> <dir>/parcel.yaml --db <dir>/ebb.db\n"
        "  ebb worker <dir>/parcel.yaml --db <dir>/ebb.db\n"
    );
}

TEST(CliRun, resumes_an_instance) {
    CliWorld world;
    const std::string file = world.file("parcel.yaml", kSignal);
    std::string id = world.run_db({"start", file}).out;
    id.pop_back();
    const Outcome timeout =
        world.run_db({"run", "--allow-exec", "--resume", id, "--timeout", "10ms"});
    EXPECT_EQ(timeout.code, 6);
    EXPECT_NE(timeout.err.find("ebb run --resume " + id + " --db "), std::string::npos);
    EXPECT_EQ(world.run_db({"signal", id, "delivered", "--payload", "{\"to\":\"ann\"}"}).code, 0);
    const Outcome outcome = world.run_db({"run", "--allow-exec", "--resume", id});
    EXPECT_EQ(outcome.code, 0);
    EXPECT_EQ(outcome.out, "{\"to\":\"ann\"}\n");
}

TEST(CliRun, ends_when_an_operator_is_needed) {
    CliWorld world;
    const std::string file = world.file("frozen.yaml", kFrozen);
    const Outcome frozen = world.run_db({"run", file, "-i", "{}", "--key", "f"});
    EXPECT_EQ(frozen.code, 1);
    EXPECT_NE(frozen.err.find("ebb requeue"), std::string::npos) << frozen.err;
    EXPECT_EQ(world.run_db({"requeue", "key:frozen/f", "-i", "{\"ok\":true}"}).code, 0);
    EXPECT_EQ(world.run_db({"run", "--allow-exec", "--resume", "key:frozen/f"}).out, "true\n");
}

TEST(CliRun, a_timeout_in_memory_rolls_back) {
    CliWorld world;
    const Outcome outcome =
        world.run({"run", world.file("parcel.yaml", kSignal), "--timeout", "10ms"});
    EXPECT_EQ(outcome.code, 6);
    EXPECT_NE(outcome.err.find("cancelled after"), std::string::npos) << outcome.err;
}

TEST(CliRun, needs_a_file_or_an_instance) {
    CliWorld world;
    const Outcome outcome = world.run({"run"});
    EXPECT_EQ(outcome.code, 2);
    EXPECT_NE(outcome.err.find("--resume ID"), std::string::npos);
}

}  // namespace
}  // namespace ebb::cli::testing
