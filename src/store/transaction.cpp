#include "store/transaction.h"

#include <fmt/format.h>

#include <ebb/error.h>

#include "store/store.h"

namespace ebb {

namespace {

[[noreturn]] void throw_unsupported(const StoreTraits& traits) {
    throw Error(
        ErrorCode::InvalidArgument,
        fmt::format(
            "The {} store has no transactions to share; SQLite and PostgreSQL have.", traits.name
        )
    );
}

}  // namespace

pg_conn* Transaction::postgres() const {
    if (postgres_ != nullptr) return postgres_;
    throw Error(
        ErrorCode::InvalidArgument,
        sqlite_ != nullptr ? "The transaction is one of SQLite, not of PostgreSQL."
                           : "The transaction has no connection: it was made of a null pointer."
    );
}

sqlite3* Transaction::sqlite() const {
    if (sqlite_ != nullptr) return sqlite_;
    throw Error(
        ErrorCode::InvalidArgument,
        postgres_ != nullptr ? "The transaction is one of PostgreSQL, not of SQLite."
                             : "The transaction has no connection: it was made of a null pointer."
    );
}

StartResult Store::start_in(const Transaction&, const NewInstance&) {
    throw_unsupported(traits());
}

std::unique_ptr<BorrowedTransaction> Store::borrow(const Transaction&) {
    throw_unsupported(traits());
}

std::unique_ptr<StoreTransaction> Store::begin_transaction() {
    throw_unsupported(traits());
}

}  // namespace ebb
