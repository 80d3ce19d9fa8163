#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <ebb/store.h>
#include <ebb/time.h>

namespace ebb {

/// One thing that the server keeps beside the instances: a token, a session, a login link.
struct AdminRow {
    std::string kind;      ///< `token`, `session`, `login`
    std::string name;      ///< unique within its kind; of a secret its hash
    std::string document;  ///< JSON text
    TimePoint expires_at = kNever;

    bool operator==(const AdminRow&) const = default;
};

/// What `ebb serve` keeps in the store's database besides the durable state. Few rows, read whole
/// and cached by the server. Each function is atomic and durable when it returns. Thread-safe;
/// throws Error.
class AdminStore {
 public:
    virtual ~AdminStore() = default;

    /// Adds a row. False: there is one with this kind and name already, and nothing has changed.
    virtual bool add(const AdminRow& row) = 0;
    /// Adds the row or replaces the one that is there.
    virtual void put(const AdminRow& row) = 0;
    virtual std::optional<AdminRow> find(std::string_view kind, std::string_view name) = 0;
    /// By name.
    virtual std::vector<AdminRow> list(std::string_view kind) = 0;
    /// True for exactly one of all who remove the same row.
    virtual bool remove(std::string_view kind, std::string_view name) = 0;
    /// Removes what expired before `now`.
    virtual void remove_expired(TimePoint now) = 0;
};

/// In this process's memory only.
std::unique_ptr<AdminStore> make_memory_admin_store();

/// In the SQLite file of the durable state, in a table of its own that is made when it does not
/// exist.
std::unique_ptr<AdminStore> open_sqlite_admin_store(const std::string& path);

/// In the PostgreSQL database of the durable state, in a table of its own that is made when it does
/// not exist.
std::unique_ptr<AdminStore> open_postgres_admin_store(const PostgresOptions& options);

}  // namespace ebb
