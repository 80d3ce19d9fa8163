#include "stores.h"

#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string>

#include "store/memory/memory_store.h"
#include "store/postgres/postgres_store.h"
#include "store/sqlite/sqlite_store.h"
#include "support/postgres_server.h"

namespace ebb::golden {

namespace {

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

}  // namespace

void with_memory(const Use& use) {
    ManualClock clock(kStart);
    const auto store = make_memory_store(clock);
    use(*store, clock);
}

void with_sqlite(const Use& use) {
    with_sqlite_at([&](Store& store, ManualClock& clock, const std::string&) { use(store, clock); }
    );
}

void with_postgres(const Use& use) {
    with_postgres_at([&](Store& store, ManualClock& clock, const std::string&) {
        use(store, clock);
    });
}

void with_sqlite_at(const UseAt& use) {
    const TemporaryFolder folder;
    ManualClock clock(kStart);
    const SqliteOptions options{
        .path = folder.path() / "ebb.db", .synchronous = SqliteOptions::Synchronous::Normal
    };
    const auto store = make_sqlite_store(options, clock);
    use(*store, clock, options.path);
}

void with_postgres_at(const UseAt& use) {
    ManualClock clock(kStart);
    const std::string schema = testing::fresh_schema();
    const auto store =
        make_postgres_store({.url = testing::postgres_server().url(), .schema = schema}, clock);
    use(*store, clock, schema);
}

}  // namespace ebb::golden
