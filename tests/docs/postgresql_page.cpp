// The C++ of docs/how-to/postgresql.md is compiled and linked here; what it does, the store tests
// show.

#include <ebb/ebb.h>

ebb::StorePtr open_shop();

ebb::StorePtr open_shop() {
    //! [open]
    ebb::StorePtr store = ebb::open_postgres_store({.url = "postgresql://ebb@db.example.com/shop"});
    //! [open]
    return store;
}
