// The whole command under a clock that is set forward and back while a worker lives: every
// process of the test sees the date that tests/support/jumping_clock.c makes. The worker is stopped
// meanwhile, so that it cannot send the heartbeat that would name the new date, whatever the load
// of the machine is; its lease is much longer than the test.

#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <fstream>

#include <gtest/gtest.h>

#include <ebb/json.h>

#include "cli_process.h"
#include "support/os_file.h"

namespace ebb::cli::testing {
namespace {

using namespace std::chrono_literals;

constexpr std::string_view kHeld = R"(workflow: held
handlers:
  hold: {exec: [sh, -c, 'echo begun >>log; until [ -e go ]; do sleep 0.02; done']}
steps:
  - {step: hold, non_idempotent: true, timeout: 10m}
)";

constexpr std::string_view kQuick = R"(workflow: quick
handlers:
  note: {exec: [sh, -c, 'echo quick >>log']}
steps:
  - {step: note, max_attempts: 1}
)";

class CliClock : public ::testing::Test {
 protected:
    CliClock() {
        std::ofstream(directory_.path() / "held.yaml") << kHeld;
        std::ofstream(directory_.path() / "quick.yaml") << kQuick;
        set_clock(0s);
        setenv("EBB_JUMPING_CLOCK", (directory_.path() / "clock").c_str(), 1);
        setenv("LD_PRELOAD", EBB_JUMPING_CLOCK_LIBRARY, 1);
    }

    ~CliClock() override {
        unsetenv("LD_PRELOAD");
        unsetenv("EBB_JUMPING_CLOCK");
    }

    void set_clock(std::chrono::seconds error) const {
        // In place: the processes have mapped it.
        std::fstream file(directory_.path() / "clock", std::ios::in | std::ios::out);
        if (!file) file.open(directory_.path() / "clock", std::ios::out);
        const std::int64_t seconds = error.count();
        file.write(reinterpret_cast<const char*>(&seconds), sizeof(seconds));
    }

    std::string directory() const { return directory_.path().string(); }

    std::string run(const std::vector<std::string>& args) const {
        CliProcess process(directory(), args);
        EXPECT_EQ(process.wait(), 0) << process.err();
        return process.out();
    }

    std::string start(const std::string& file) const {
        return Json::parse(run({"start", file, "--json"}))["id"].get<std::string>();
    }

    /// Its whole life is under one date.
    void expect_that_a_new_worker_takes_nothing() const {
        CliProcess late(
            directory(), {"worker", "quick.yaml", "held.yaml", "--lease", "10m", "--verbose"}
        );
        run({"wait", start("quick.yaml"), "--timeout", "5m"});
        late.signal(SIGTERM);
        EXPECT_EQ(late.wait(), 0) << late.err();
        EXPECT_EQ(late.err().find("leases_expired"), std::string::npos) << late.err();
    }

    TempDirectory directory_;
};

// A sanitizer's library must be the first that is loaded.
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
TEST_F(CliClock, that_is_set_takes_no_work_from_a_living_worker) {
    CliProcess living(directory(), {"worker", "held.yaml", "--lease", "10m", "--verbose"});
    const std::string held = start("held.yaml");
    ASSERT_TRUE(living.wait_for("event=call_started")) << living.err();
    living.signal(SIGSTOP);
    for (const auto error : {1h, -1h, 0h}) {
        SCOPED_TRACE(std::chrono::seconds(error).count());
        set_clock(error);
        expect_that_a_new_worker_takes_nothing();
    }
    living.signal(SIGCONT);
    std::ofstream(directory_.path() / "go").flush();
    run({"wait", held, "--timeout", "5m"});
    const std::string history = run({"history", held, "--json"});
    EXPECT_EQ(history.find("lease_lost"), std::string::npos) << history;
    EXPECT_EQ(history.find("in_doubt"), std::string::npos) << history;
    living.signal(SIGTERM);
    EXPECT_EQ(living.wait(), 0) << living.err();
    EXPECT_EQ(living.err().find("lease_lost"), std::string::npos) << living.err();
}
#endif

}  // namespace
}  // namespace ebb::cli::testing
