#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <ebb/clock.h>
#include <ebb/log.h>

#include "store/admin_store.h"
#include "support/sync.h"

// Who did what: rows in the database, each with the hash of the one before it.

namespace ebb::server {

/// What a request says of itself.
struct AuditEntry {
    std::string principal{};
    std::string credential{};
    std::string remote{};
    std::string request_id{};
    std::string action{};
    std::string target{};
    std::string workflow{};
    std::string outcome = "allowed";  ///< `allowed`, `failed`, `refused`
    std::string detail = "{}";        ///< a JSON object without payloads and secrets
};

/// Writes the audit of one server: a chain of its own, so that servers do not wait for each other.
/// Entries that come while others are being written are written together. Thread-safe.
class Audit {
 public:
    /// So many refused requests of a second are written; the others are counted.
    static constexpr int kRefusedPerSecond = 10;
    /// How often the end of the chain is logged, so that a chain that was cut off or
    /// written again does not go unnoticed.
    static constexpr Duration kAnchorEvery = std::chrono::hours(1);

    Audit(AdminStore& store, const Clock& clock, LogSink* log)
        : store_(store), clock_(clock), log_(log) {}

    ~Audit();
    Audit(const Audit&) = delete;
    Audit& operator=(const Audit&) = delete;

    /// Durable when it returns. Throws Error if it cannot be written: the act must not be done.
    void write(AuditEntry entry);
    /// The same of several acts, all or none.
    void write(std::vector<AuditEntry> entries);
    /// Of an act that has failed or was refused: never throws.
    void note(AuditEntry entry) noexcept;

 private:
    struct Batch;

    AuditRow row_of(AuditEntry entry, TimePoint now) const;
    void append(std::vector<AuditRow>& rows);
    void begin_chain();
    void anchor();
    bool takes_refusal(AuditEntry& entry);

    AdminStore& store_;
    const Clock& clock_;
    LogSink* log_;
    Mutex mutex_;
    CondVar changed_;
    std::shared_ptr<Batch> next_ EBB_GUARDED_BY(mutex_);
    bool is_writing_ EBB_GUARDED_BY(mutex_) = false;
    std::int64_t refusals_left_ EBB_GUARDED_BY(mutex_) = kRefusedPerSecond;
    std::int64_t refusals_dropped_ EBB_GUARDED_BY(mutex_) = 0;
    SteadyPoint refusals_since_ EBB_GUARDED_BY(mutex_){};
    // Used by the thread that writes.
    std::string chain_;
    std::int64_t number_ = 0;
    std::string last_;
    SteadyPoint anchored_at_{};
};

/// SHA-256 of the row and of the hash before it.
std::string audit_hash(const AuditRow& row);

/// The whole row, as the API shows it.
std::string audit_json(const AuditRow& row);

/// Up to where rows were removed because they were old, and the last of each chain that was: what
/// is left of a chain follows it.
struct AuditCut {
    struct End {
        std::int64_t number = 0;
        std::string hash;
    };

    TimePoint before{};  ///< zero: nothing was removed
    std::map<std::string, End> ends{};
};

AuditCut load_audit_cut(AdminStore& store);

/// Removes the rows that are older than `age`, in whole days, and keeps what the check of the rest
/// needs. A row says so, in a chain of its own; `by` is its author. Returns how many were removed.
/// Repeating it is free.
std::int64_t purge_audit(
    AdminStore& store, const Clock& clock, LogSink* log, Duration age, const std::string& by
);

/// One thing that is wrong with an audit.
struct AuditFault {
    std::string row;  ///< its id; empty = it is about no single row
    std::string what;

    bool operator==(const AuditFault&) const = default;
};

struct AuditVerdict {
    std::int64_t rows = 0;
    std::int64_t chains = 0;
    TimePoint cut_before{};          ///< older rows were removed by purge_audit(); zero = none were
    std::vector<AuditFault> faults;  ///< at most kFaultsMax
};

inline constexpr std::size_t kAuditFaultsMax = 100;

/// Reads all rows and finds those that were changed, removed or inserted. `anchors`: hashes from
/// the log, which must be there.
AuditVerdict verify_audit(AdminStore& store, const std::vector<std::string>& anchors);

}  // namespace ebb::server
