// Golden workflows: every case is played over the memory, the SQLite and the PostgreSQL store and
// must tell the same history, word for word, as its expected file. EBB_APPROVE=1 rewrites the
// expected files
// (./dev approve); the diff is the review.

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include "player.h"
#include "store/memory/memory_store.h"
#include "store/postgres/postgres_store.h"
#include "store/sqlite/sqlite_store.h"
#include "support/postgres_server.h"

namespace ebb::golden {
namespace {

const std::filesystem::path kFolder =
    std::filesystem::path(EBB_SOURCE_DIR) / "tests/golden/workflows";
constexpr TimePoint kStart{std::chrono::seconds(1'767'225'600)};

std::string expected(const Case& test_case) {
    std::ifstream file(test_case.expected_file);
    std::stringstream text;
    text << file.rdbuf();
    return text.str();
}

std::string play(const Case& test_case, Store& store, ManualClock& clock) {
    Player player(test_case, store, clock);
    player.play();
    return tell(player, test_case);
}

std::string play_in_memory(const Case& test_case) {
    ManualClock clock(kStart);
    const auto store = make_memory_store(clock);
    return play(test_case, *store, clock);
}

/// A folder of its own that is gone with the object.
class TemporaryFolder {
 public:
    TemporaryFolder() {
        std::string name = (std::filesystem::temp_directory_path() / "ebb-golden-XXXXXX").string();
        if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("cannot make " + name);
        path_ = name;
    }

    ~TemporaryFolder() { std::filesystem::remove_all(path_); }

    TemporaryFolder(const TemporaryFolder&) = delete;
    TemporaryFolder& operator=(const TemporaryFolder&) = delete;

    const std::filesystem::path& path() const { return path_; }

 private:
    std::filesystem::path path_;
};

std::string play_in_sqlite(const Case& test_case) {
    const TemporaryFolder folder;
    ManualClock clock(kStart);
    const SqliteOptions options{
        .path = folder.path() / "ebb.db", .synchronous = SqliteOptions::Synchronous::Normal
    };
    const auto store = make_sqlite_store(options, clock);
    return play(test_case, *store, clock);
}

std::string play_in_postgres(const Case& test_case) {
    ManualClock clock(kStart);
    const auto store = make_postgres_store(
        {.url = testing::postgres_server().url(), .schema = testing::fresh_schema()}, clock
    );
    return play(test_case, *store, clock);
}

TEST(Golden, every_workflow_tells_its_expected_history_on_every_store) {
    const auto cases = load_cases(kFolder);
    ASSERT_GE(cases.size(), 20U);
    const bool approves = std::getenv("EBB_APPROVE") != nullptr;
    for (const Case& test_case : cases) {
        SCOPED_TRACE(test_case.name);
        const std::string told = play_in_memory(test_case);
        if (approves) std::ofstream(test_case.expected_file) << told;
        EXPECT_EQ(told, expected(test_case)) << test_case.name << " (./dev approve rewrites it)";
        EXPECT_EQ(play_in_sqlite(test_case), told) << test_case.name << " on SQLite";
        EXPECT_EQ(play_in_postgres(test_case), told) << test_case.name << " on PostgreSQL";
    }
}

}  // namespace
}  // namespace ebb::golden
