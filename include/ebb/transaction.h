#pragma once

struct pg_conn;  // what libpq calls PGconn
struct sqlite3;

namespace ebb {

/// An open transaction in the store's own database, on a connection of the application: its changes
/// and Ebb's writes take effect together or not at all.
///
/// Borrows the connection, which must stay open as long as this object is used, by one thread at a
/// time. Neither begins nor ends the transaction.
class Transaction {
 public:
    /// Of a store on PostgreSQL: blocking, not in pipeline mode, with the client encoding UTF8.
    explicit Transaction(pg_conn* connection) : postgres_(connection) {}

    /// Of a store in SQLite: the store's file must be its `main` database.
    explicit Transaction(sqlite3* connection) : sqlite_(connection) {}

    /// The connection. Throws Error with InvalidArgument if it belongs to the other kind of
    /// database.
    pg_conn* postgres() const;
    sqlite3* sqlite() const;

 private:
    pg_conn* postgres_ = nullptr;
    sqlite3* sqlite_ = nullptr;
};

}  // namespace ebb
