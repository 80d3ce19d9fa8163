#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <ebb/transaction.h>

namespace ebb {

struct Commit;
struct HistoryEvent;
struct HistoryQuery;
struct InstanceId;
struct InstanceRow;
struct Mail;
enum class SendResult;

/// A transaction in which a handler works and which then commits the end of its step: the only one
/// that is open while a handler runs. Rolls back if it is destroyed without a commit. Used by one
/// thread.
class StoreTransaction {
 public:
    StoreTransaction() = default;
    StoreTransaction(const StoreTransaction&) = delete;
    StoreTransaction& operator=(const StoreTransaction&) = delete;
    virtual ~StoreTransaction() = default;

    /// The transaction as the handler sees it.
    virtual const Transaction& handle() const = 0;

    /// Throws HandlerFailure unless the transaction is still open and usable: a handler must
    /// neither end it nor leave a failed statement or an unread answer in it.
    virtual void check() const = 0;

    /// Its connection broke: none of the handler's work is left, whatever the handler reports.
    virtual bool is_lost() const { return false; }

    /// The instance as it is now. From here on, no other session can change it. Empty if it does
    /// not exist.
    virtual std::optional<InstanceRow> lock(const InstanceId& id) = 0;

    /// Writes the commit, which must be based on the row that lock() returned, and ends the
    /// transaction. Throws StoreInDoubt if the outcome is unknown. After any other error, neither
    /// the commit nor the handler's work is left.
    virtual void commit(const Commit& commit) = 0;
};

/// A transaction of the application, in which one instance is read and written. Neither begins nor
/// ends it. Used by one thread.
class BorrowedTransaction {
 public:
    BorrowedTransaction() = default;
    BorrowedTransaction(const BorrowedTransaction&) = delete;
    BorrowedTransaction& operator=(const BorrowedTransaction&) = delete;
    virtual ~BorrowedTransaction() = default;

    /// The instance as the transaction sees it. From here on, no other session can change it. Empty
    /// if it does not exist.
    virtual std::optional<InstanceRow> lock(const InstanceId& id) = 0;

    /// As Store::history and Store::events, with what the transaction has written.
    virtual std::vector<HistoryEvent> history(const HistoryQuery& query) = 0;
    virtual std::vector<HistoryEvent> events(
        const InstanceId& id, const std::vector<std::int64_t>& seqs
    ) = 0;

    /// Writes the commit, which must be based on the row that lock() returned.
    virtual void commit(const Commit& commit) = 0;

    /// As Store::send. Locks the task that wakes the instance, but not the instance.
    virtual SendResult send(const Mail& mail) = 0;
};

}  // namespace ebb
