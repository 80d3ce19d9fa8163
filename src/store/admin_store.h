#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
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

/// One line of the audit: an act, its author and its outcome. Each row has the hash of the one
/// before it in its chain, so a row that is changed, removed or inserted later is found.
struct AuditRow {
    std::string id{};  ///< UUIDv7, rising within a chain
    TimePoint at{};
    std::string principal{};
    std::string credential{};  ///< `token`, `session`, `anonymous`
    std::string remote{};
    std::string request_id{};
    std::string action{};     ///< the operation
    std::string target{};     ///< the path
    std::string workflow{};   ///< empty = it is not about one
    std::string outcome{};    ///< `allowed`, `failed`, `refused`
    std::string detail{};     ///< JSON; never a payload or a secret
    std::string chain{};      ///< one for each run of a server
    std::int64_t number = 0;  ///< in its chain, from 1
    std::string prev{};       ///< the hash of the row before it
    std::string hash{};

    bool operator==(const AuditRow&) const = default;
};

struct AuditQuery {
    std::string principal{};  ///< empty = all; so are the next three
    std::string action{};
    std::string target{};
    std::string workflows{};  ///< names between commas
    TimePoint since{};
    std::string place{};      ///< only what is beyond this id; empty = from the beginning
    bool is_forward = false;  ///< the oldest first
    int limit = 100;
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
    /// Replaces the row that is there. False: there is none any more, and none is added, so that
    /// what was removed meanwhile does not come back.
    virtual bool change(const AdminRow& row) = 0;
    virtual std::optional<AdminRow> find(std::string_view kind, std::string_view name) = 0;
    /// By name.
    virtual std::vector<AdminRow> list(std::string_view kind) = 0;
    /// True for exactly one of all who remove the same row.
    virtual bool remove(std::string_view kind, std::string_view name) = 0;
    /// Removes what expired before `now`.
    virtual void remove_expired(TimePoint now) = 0;

    /// Adds all rows or none. Rows that are already there stay.
    virtual void append_audit(std::span<const AuditRow> rows) = 0;
    virtual std::vector<AuditRow> list_audit(const AuditQuery& query) = 0;
    /// Removes the rows up to this id, and the one that has it. Returns how many.
    virtual std::int64_t remove_audit(std::string_view id) = 0;
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
