#include "sim/over_sqlite.h"

#include <cstdlib>
#include <string>
#include <system_error>

#include "store/sqlite/sqlite_store.h"

namespace ebb::sim {

SqliteFolder::SqliteFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "ebb_sim_XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) {
        throw std::system_error(errno, std::generic_category(), "No temporary folder: " + name);
    }
    folder_ = name;
}

SqliteFolder::~SqliteFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
}

StorePtr SqliteFolder::open(const Clock& clock) {
    for (const auto& file : std::filesystem::directory_iterator(folder_)) {
        std::filesystem::remove(file);
    }
    // Power does not fail here, so nothing waits for the disk.
    return make_sqlite_store(
        {.path = (folder_ / "run.db").string(), .synchronous = SqliteOptions::Synchronous::Normal},
        clock
    );
}

}  // namespace ebb::sim
