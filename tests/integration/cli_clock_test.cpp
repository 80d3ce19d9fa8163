// The whole command under a clock that somebody sets, forward and back, while workers run: every
// process of the test sees the date that tests/support/jumping_clock.c makes. A worker that lives
// keeps its leases, its calls keep their timeouts, and work goes on.

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
  - {step: hold, non_idempotent: true, timeout: 5m}
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

    TempDirectory directory_;
};

// A sanitizer's library must be the first that is loaded.
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
TEST_F(CliClock, that_is_set_takes_no_work_from_a_living_worker) {
    const std::vector<std::string> worker = {
        "worker", "held.yaml", "quick.yaml", "--lease", "1s", "--verbose"
    };
    CliProcess one(directory(), worker);
    const std::string held = start("held.yaml");
    ASSERT_TRUE(one.wait_for("hold")) << one.err();
    // It would take over what the first one no longer holds.
    CliProcess other(directory(), worker);
    for (const auto error : {1h, -1h, 0h}) {
        SCOPED_TRACE(std::chrono::seconds(error).count());
        set_clock(error);
        // Work is done under the new date for longer than a lease lasts.
        const auto end = std::chrono::steady_clock::now() + 3s;
        while (std::chrono::steady_clock::now() < end) {
            run({"wait", start("quick.yaml"), "--timeout", "20s"});
        }
    }
    std::ofstream(directory_.path() / "go").flush();
    run({"wait", held, "--timeout", "60s"});
    const std::string history = run({"history", held, "--json"});
    EXPECT_EQ(history.find("lease_lost"), std::string::npos) << history;
    EXPECT_EQ(history.find("in_doubt"), std::string::npos) << history;
    for (CliProcess* each : {&one, &other}) {
        each->signal(SIGTERM);
        EXPECT_EQ(each->wait(), 0) << each->err();
        EXPECT_EQ(each->err().find("lease_lost"), std::string::npos) << each->err();
        EXPECT_EQ(each->err().find("leases_expired"), std::string::npos) << each->err();
    }
}
#endif

}  // namespace
}  // namespace ebb::cli::testing
