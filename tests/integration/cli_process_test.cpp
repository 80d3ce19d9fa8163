// The real command over a real database: signals, sudden death, several workers, scripts. Handlers
// append to a file, and the tests count its lines.

#include "cli_process.h"

#include <algorithm>
#include <csignal>
#include <fstream>
#include <sstream>
#include <thread>

#include <sys/stat.h>
#include <unistd.h>

#include <ebb/json.h>

#include "ebb_test_dirs.h"
#include "support/postgres_server.h"

namespace ebb::cli::testing {
namespace {

/// Handlers write a line to `log`. The handler `slow` waits until the file `go` exists.
constexpr std::string_view kWorkflow = R"(workflow: demo
handlers:
  first: {exec: [sh, -c, 'echo first >>log']}
  undo: {exec: [sh, -c, 'echo undo >>log']}
  slow: {exec: [sh, -c, 'echo slow >>log; while ! test -e go; do sleep 0.02; done']}
  last: {exec: [sh, -c, 'echo last >>log; echo "\"done\""']}
steps:
  - {step: first, compensate: undo}
  - {step: slow, max_attempts: 1}
  - last
)";

/// A folder with the workflow above and a database.
class CliFolder {
 protected:
    explicit CliFolder(std::string db) : db_(std::move(db)) { write("demo.yaml", kWorkflow); }

    void write(const std::string& name, std::string_view content) const {
        std::ofstream(path(name), std::ios::binary) << content;
    }

    std::string path(const std::string& name) const { return (directory_.path() / name).string(); }

    std::string directory() const { return directory_.path().string(); }

    struct Ended {
        int code;
        std::string out;
        std::string err;
    };

    Ended run(const std::vector<std::string>& args) const {
        CliProcess process(directory(), args, db_);
        const int code = process.wait();
        return {code, process.out(), process.err()};
    }

    std::string start(const std::vector<std::string>& more = {}) const {
        std::vector<std::string> args{"start", "demo.yaml"};
        args.insert(args.end(), more.begin(), more.end());
        std::string id = run(args).out;
        if (!id.empty()) id.pop_back();
        return id;
    }

    std::string status(const std::string& id) const {
        return Json::parse(run({"show", id, "--json"}).out)["status"].get<std::string>();
    }

    void change_database(const std::string& sql) const {
        const std::string command = "sqlite3 '" + path("ebb.db") + "' \"" + sql + "\" >/dev/null";
        ASSERT_EQ(system(command.c_str()), 0);
    }

    std::string log() const {
        std::ifstream file(path("log"));
        std::stringstream text;
        text << file.rdbuf();
        return text.str();
    }

    const std::string db_;

 private:
    TempDirectory directory_;
};

std::string database_of(const std::string& kind) {
    if (kind == "sqlite") return "ebb.db";
    return ebb::testing::postgres_server().url() + "&schema=" + ebb::testing::fresh_schema();
}

/// Runs over each kind of database.
class CliProcesses : public CliFolder, public ::testing::TestWithParam<std::string> {
 protected:
    CliProcesses() : CliFolder(database_of(GetParam())) {}
};

INSTANTIATE_TEST_SUITE_P(
    Databases,
    CliProcesses,
    ::testing::Values("sqlite", "postgresql"),
    [](const auto& kind) { return kind.param; }
);

/// For tests that do not depend on the database.
class CliScripts : public CliFolder, public ::testing::Test {
 protected:
    CliScripts() : CliFolder("ebb.db") {}
};

TEST_P(CliProcesses, a_database_is_migrated_once_and_says_so) {
    EXPECT_NE(run({"migrate", "--status"}).out.find("not yet"), std::string::npos);
    EXPECT_EQ(run({"migrate", "--print"}).out.find("-- 0001 initial\n"), 0U);
    const std::string applied = run({"migrate"}).out;
    EXPECT_EQ(
        applied.find("Applied 0001 initial\nApplied 0002 views\nApplied 0003 queues\n"
                     "Applied 0004 retention\n"),
        0U
    ) << applied;
    EXPECT_EQ(run({"migrate"}).err, "The schema is up to date.\n");
    EXPECT_EQ(run({"list", "--json"}).out, "[]\n");
}

TEST_P(CliProcesses, a_worker_drains_at_sigterm_and_the_next_one_continues) {
    const std::string id = start();
    CliProcess worker(directory(), {"worker", "demo.yaml", "--verbose"}, db_);
    ASSERT_TRUE(worker.wait_for("event=call_started")) << worker.err();
    ASSERT_TRUE(worker.wait_for("handler=slow")) << worker.err();
    worker.signal(SIGTERM);
    ASSERT_TRUE(worker.wait_for("event=draining"));
    write("go", "");
    EXPECT_EQ(worker.wait(), 0) << worker.err();
    EXPECT_NE(worker.err().find("clean=true"), std::string::npos);
    EXPECT_EQ(log(), "first\nslow\n");
    EXPECT_EQ(status(id), "running");
    EXPECT_EQ(run({"worker", "--allow-exec", "--once", "-q"}).code, 0);
    EXPECT_EQ(status(id), "completed");
    EXPECT_EQ(log(), "first\nslow\nlast\n");
}

TEST_P(CliProcesses, a_drain_that_takes_too_long_hands_its_work_back) {
    const std::string id = start();
    CliProcess worker(
        directory(), {"worker", "--allow-exec", "--verbose", "--drain-timeout", "10ms"}, db_
    );
    ASSERT_TRUE(worker.wait_for("handler=slow"));
    worker.signal(SIGTERM);
    EXPECT_EQ(worker.wait(), 6) << worker.err();
    write("go", "");
    EXPECT_EQ(run({"worker", "--allow-exec", "--once", "-q"}).code, 0);
    EXPECT_EQ(status(id), "completed");
    EXPECT_EQ(log(), "first\nslow\nslow\nlast\n");
}

TEST_P(CliProcesses, after_sigkill_another_worker_finishes_and_repeats_only_what_was_running) {
    const std::string id = start();
    CliProcess dead(directory(), {"worker", "--allow-exec", "--verbose", "--lease", "1s"}, db_);
    ASSERT_TRUE(dead.wait_for("handler=slow"));
    dead.signal(SIGKILL);
    EXPECT_EQ(dead.wait(), 128 + SIGKILL);
    write("go", "");
    CliProcess worker(directory(), {"worker", "--allow-exec", "--lease", "1s"}, db_);
    ASSERT_TRUE(worker.wait_for("event=completed")) << worker.err();
    worker.signal(SIGTERM);
    EXPECT_EQ(worker.wait(), 0);
    EXPECT_EQ(status(id), "completed");
    // The kill may have come before the killed call wrote its line.
    const std::string done = log();
    EXPECT_TRUE(done == "first\nslow\nlast\n" || done == "first\nslow\nslow\nlast\n") << done;
}

TEST_P(CliProcesses, a_newer_worker_displaces_an_older_one_with_the_same_name) {
    const std::string id = start();
    CliProcess older(directory(), {"worker", "--allow-exec", "--verbose", "--id", "same"}, db_);
    ASSERT_TRUE(older.wait_for("handler=slow")) << older.err();
    CliProcess newer(directory(), {"worker", "--allow-exec", "--verbose", "--id", "same"}, db_);
    ASSERT_TRUE(newer.wait_for("handler=slow")) << newer.err();
    EXPECT_EQ(older.wait(), 4) << older.err();
    EXPECT_NE(older.err().find("event=worker_displaced"), std::string::npos) << older.err();
    EXPECT_EQ(status(id), "running");
    write("go", "");
    ASSERT_TRUE(newer.wait_for("event=completed")) << newer.err();
    newer.signal(SIGTERM);
    EXPECT_EQ(newer.wait(), 0) << newer.err();
    EXPECT_EQ(status(id), "completed");
}

TEST_P(CliProcesses, two_workers_share_the_work_and_do_nothing_twice) {
    write("go", "");
    constexpr int kInstances = 12;
    for (int i = 0; i < kInstances; ++i) start({"--key", std::to_string(i)});
    CliProcess one(directory(), {"worker", "--allow-exec", "-q"}, db_);
    CliProcess two(directory(), {"worker", "--allow-exec", "-q"}, db_);
    for (int i = 0; i < kInstances; ++i) {
        EXPECT_EQ(run({"wait", "key:demo/" + std::to_string(i), "--timeout", "60s"}).code, 0);
    }
    one.signal(SIGTERM);
    two.signal(SIGINT);
    EXPECT_EQ(one.wait(), 0);
    EXPECT_EQ(two.wait(), 0);
    const std::string done = log();
    EXPECT_EQ(std::count(done.begin(), done.end(), '\n'), 3 * kInstances);
}

TEST_P(CliProcesses, ctrl_c_keeps_a_durable_run_and_resume_continues_it) {
    CliProcess run_process(directory(), {"run", "demo.yaml", "--key", "k"}, db_);
    ASSERT_TRUE(run_process.wait_for("first (")) << run_process.err();
    // Before that, the next handler could still begin after the text below, and find `go`.
    while (log() != "first\nslow\n") std::this_thread::yield();
    run_process.signal(SIGINT);
    ASSERT_TRUE(run_process.wait_for("Waiting for the running handlers")) << run_process.err();
    write("go", "");
    EXPECT_EQ(run_process.wait(), 130) << run_process.err();
    EXPECT_NE(run_process.err().find("ebb run --resume "), std::string::npos);
    const Ended resumed = run({"run", "--allow-exec", "--resume", "key:demo/k"});
    EXPECT_EQ(resumed.code, 0) << resumed.err;
    EXPECT_EQ(resumed.out, "\"done\"\n");
}

TEST_F(CliScripts, ctrl_c_on_a_run_in_memory_compensates) {
    CliProcess process(directory(), {"run", "demo.yaml", "--db", "memory:"});
    ASSERT_TRUE(process.wait_for("first ("));
    process.signal(SIGINT);
    EXPECT_EQ(process.wait(), 130) << process.err();
    EXPECT_TRUE(log().ends_with("undo\n")) << log();
}

TEST_F(CliScripts, a_run_leaves_no_program_behind) {
    write("stubborn.yaml", R"(workflow: stubborn
handlers:
  stubborn:
    exec: [sh, -c, 'trap "" TERM; echo $$ >pid; while :; do sleep 0.02; done']
    grace: 100ms
steps: [stubborn]
)");
    CliProcess process(
        directory(), {"worker", "stubborn.yaml", "--verbose", "--drain-timeout", "0"}
    );
    run({"start", "stubborn.yaml"});
    ASSERT_TRUE(process.wait_for("handler=stubborn"));
    process.signal(SIGTERM);
    EXPECT_EQ(process.wait(), 6) << process.err();
    std::ifstream file(path("pid"));
    pid_t pid = 0;
    file >> pid;
    // The program may have been stopped before it could write its number.
    EXPECT_TRUE(pid == 0 || kill(pid, 0) != 0);
}

TEST_P(CliProcesses, exit_codes_and_json_are_for_scripts) {
    write("go", "");
    EXPECT_EQ(run({"run", "demo.yaml", "-q"}).code, 0);
    write("bad.yaml", "workflow: bad\nsteps: [{fail: no, message: on purpose}]\n");
    const Ended failed = run({"run", "bad.yaml", "--json", "-q"});
    EXPECT_EQ(failed.code, 1);
    EXPECT_EQ(Json::parse(failed.out)["status"], "failed");
    EXPECT_EQ(run({"run", "none.yaml"}).code, 2);
    EXPECT_EQ(run({"show", "00000000-0000-7000-8000-000000000000"}).code, 3);
    EXPECT_EQ(run({"cancel", Json::parse(failed.out)["id"].get<std::string>()}).code, 4);
    for (const std::vector<std::string>& args :
         {std::vector<std::string>{"list", "--json"},
          {"workflows", "--json"},
          {"version", "--json"},
          {"validate", "demo.yaml", "--json"},
          {"diagram", "demo.yaml", "--json"}}) {
        const Ended ended = run(args);
        EXPECT_EQ(ended.code, 0) << args.front();
        EXPECT_FALSE(Json::parse(ended.out, nullptr, false).is_discarded()) << args.front();
    }
}

TEST_F(CliScripts, each_kind_of_bad_database_has_its_own_error) {
    const auto code = [&](const std::string& db) {
        const Ended ended = run({"start", "demo.yaml", "--db", db});
        EXPECT_NE(ended.err, "");
        return ended.code;
    };
    write("text.db", std::string(8'192, 'x'));
    EXPECT_EQ(code("text.db"), 5);
    EXPECT_EQ(code("none/ebb.db"), 5);
    EXPECT_EQ(code("."), 5);
    EXPECT_EQ(code("mysql://host"), 2);
    EXPECT_EQ(code("postgresql://host/db"), 5);
    EXPECT_EQ(run({"list", "--db", "none.db"}).code, 5);
    EXPECT_NE(access(path("none.db").c_str(), F_OK), 0);
}

TEST_F(CliScripts, one_damaged_instance_is_set_aside_and_the_others_run) {
    write("go", "");
    const std::string damaged = start();
    const std::string good = start();
    change_database("UPDATE instances SET state = '{rubbish' WHERE id = '" + damaged + "'");
    const Ended worker = run({"worker", "--allow-exec", "--once"});
    EXPECT_EQ(worker.code, 0) << worker.err;
    EXPECT_NE(worker.err.find("event=instance_put_off instance=" + damaged), std::string::npos);
    EXPECT_EQ(status(good), "completed");
    EXPECT_EQ(run({"cancel", damaged}).code, 5);
    const Ended why = run({"why", damaged});
    EXPECT_EQ(why.code, 0);
    EXPECT_NE(why.out.find("set aside"), std::string::npos) << why.out;
}

TEST_F(CliScripts, a_database_of_a_newer_version_is_left_alone) {
    const std::string id = start();
    change_database(
        "INSERT INTO migrations (number, name, checksum, applied_at) VALUES (9999, 'later', '', 0)"
    );
    const Ended ended = run({"show", id});
    EXPECT_EQ(ended.code, 5);
    EXPECT_NE(ended.err.find("newer"), std::string::npos) << ended.err;
}

TEST_F(CliScripts, a_full_disk_under_the_output_is_reported) {
    const std::string command =
        "'" EBB_BINARY_DIR "/ebb' version >/dev/full; echo $?; '" EBB_BINARY_DIR
        "/ebb' validate '" +
        path("demo.yaml") + "' | head -c 1 >/dev/null; echo ${PIPESTATUS[0]}";
    write("script", command);
    FILE* shell = popen(("bash '" + path("script") + "' 2>/dev/null").c_str(), "r");
    ASSERT_NE(shell, nullptr);
    char text[100] = {};
    const std::size_t size = fread(text, 1, sizeof text - 1, shell);
    EXPECT_EQ(pclose(shell), 0);
    const std::string said(text, size);
    EXPECT_TRUE(said == "74\n0\n" || said == "74\n141\n") << said;
}

TEST_F(CliScripts, completion_scripts_are_correct_and_complete) {
    const Ended bash = run({"completion", "bash"});
    write("ebb.bash", bash.out);
    EXPECT_EQ(system(("bash -n '" + path("ebb.bash") + "'").c_str()), 0);
    write("try.bash", R"(source ./ebb.bash
complete_words() {
    COMP_WORDS=("$@")
    COMP_CWORD=$(($# - 1))
    _ebb
    echo "${COMPREPLY[*]}"
}
complete_words ebb wor
complete_words ebb run --inp
complete_words ebb diagram --format s
complete_words ebb decide 0123 c
complete_words ebb completion f
complete_words ebb run demo.y
complete_words ebb --db x.db lis
complete_words ebb show demo.y
complete_words ebb diagram demo.y
)");
    FILE* shell = popen(("cd '" + directory() + "' && bash try.bash").c_str(), "r");
    ASSERT_NE(shell, nullptr);
    char text[1'000] = {};
    const std::size_t size = fread(text, 1, sizeof text - 1, shell);
    EXPECT_EQ(pclose(shell), 0);
    EXPECT_EQ(
        std::string(text, size),
        "worker workers workflows\n--input\nsvg\nconfirm\nfish\ndemo.yaml\nlist\n\ndemo.yaml\n"
    );
    for (const char* other : {"zsh", "fish"}) {
        const Ended script = run({"completion", other});
        EXPECT_EQ(script.code, 0);
        EXPECT_NE(script.out.find("requeue"), std::string::npos);
        const std::string have = std::string("command -v ") + other + " >/dev/null 2>&1";
        if (system(have.c_str()) != 0) continue;
        write("script", script.out);
        EXPECT_EQ(system((std::string(other) + " -n '" + path("script") + "'").c_str()), 0);
    }
}

}  // namespace
}  // namespace ebb::cli::testing
