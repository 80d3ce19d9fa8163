// Goal: the SQLite store does what every store must.
// Method: the conformance suite on a fresh file per case. What only SQLite can get wrong is in the
// other sqlite_*_test.cpp files.

#include "store/sqlite/sqlite_store.h"

#include "store/instantiate.h"

namespace ebb::testing {
namespace {

EBB_INSTANTIATE_STORE_TESTS(
    Sqlite,
    (StoreKind{
        "sqlite",
        [](const Clock& clock, const TempDir& dir) {
            return make_sqlite_store({.path = dir.file("ebb.db")}, clock);
        }
    })
);

}  // namespace
}  // namespace ebb::testing
