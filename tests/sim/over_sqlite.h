#pragma once

#include <filesystem>

#include <ebb/store.h>

#include "support/clock.h"

namespace ebb::sim {

/// A folder in which each run gets a new SQLite file; it is removed at the end.
class SqliteFolder {
 public:
    SqliteFolder();
    ~SqliteFolder();
    SqliteFolder(const SqliteFolder&) = delete;
    SqliteFolder& operator=(const SqliteFolder&) = delete;

    /// A store over a new file. Those before it must be closed.
    StorePtr open(const Clock& clock);

 private:
    std::filesystem::path folder_;
};

}  // namespace ebb::sim
