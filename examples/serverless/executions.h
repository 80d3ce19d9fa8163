#pragma once

#include <cstdint>
#include <string>

struct sqlite3;

/// The table in which the application keeps its snapshots: any store with a conditional write would
/// do.
class Executions {
 public:
    explicit Executions(const std::string& path);
    ~Executions();
    Executions(const Executions&) = delete;
    Executions& operator=(const Executions&) = delete;

    /// False: the id is taken.
    bool insert(const std::string& id, const std::string& status, const std::string& snapshot);

    /// Throws when there is none.
    std::string load(const std::string& id);

    /// Writes only if the row still has the version that was read. False: another process was
    /// faster.
    bool update(
        const std::string& id,
        std::int64_t read_version,
        std::int64_t version,
        const std::string& status,
        const std::string& snapshot
    );

 private:
    sqlite3* database_ = nullptr;
};
