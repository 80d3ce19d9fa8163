#pragma once

#include <optional>

#include <ebb/transaction.h>

namespace ebb {

struct Commit;
struct InstanceId;
struct InstanceRow;

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

}  // namespace ebb
