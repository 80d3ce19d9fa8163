#pragma once

#include <optional>

#include <ebb/transaction.h>

namespace ebb {

struct Commit;
struct InstanceId;
struct InstanceRow;

/// A transaction in which a handler works and which then commits the end of its step: the one that
/// is open while a handler runs. Rolled back when it goes without having been committed. Used by
/// one thread.
class StoreTransaction {
 public:
    StoreTransaction() = default;
    StoreTransaction(const StoreTransaction&) = delete;
    StoreTransaction& operator=(const StoreTransaction&) = delete;
    virtual ~StoreTransaction() = default;

    /// What the handler gets.
    virtual const Transaction& handle() const = 0;

    /// Throws HandlerFailure unless the transaction is still open and can go on: a handler must
    /// neither end it nor leave a failed statement or an unread answer in it.
    virtual void check() const = 0;

    /// Its connection broke: nothing that the handler did is left, whatever the handler says of it.
    virtual bool is_lost() const { return false; }

    /// The instance as it is now; from here on nobody else changes it. None where there is none.
    virtual std::optional<InstanceRow> lock(const InstanceId& id) = 0;

    /// Writes the commit, which must follow on the row that lock() gave, and ends the transaction.
    /// Throws StoreInDoubt where it is not known what became of it; at any other error nothing of
    /// it is left, nor of what the handler did.
    virtual void commit(const Commit& commit) = 0;
};

}  // namespace ebb
