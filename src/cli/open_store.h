#pragma once

#include <string>
#include <string_view>

#include <ebb/store.h>

namespace ebb::cli {

/// What `--db` names.
struct StoreUrl {
    enum class Kind { Memory, Sqlite, Postgres };

    Kind kind = Kind::Memory;
    std::string path;  ///< of Sqlite; of Postgres the whole URL

    bool operator==(const StoreUrl&) const = default;
};

/// Reads `memory:`, `sqlite:PATH`, a bare path or `postgresql://...`. Throws Error with
/// InvalidArgument for an empty path or another scheme.
StoreUrl parse_store_url(std::string_view text);

/// `text` as it may be shown to people: a password in it is left out.
std::string shown_url(std::string_view text);

/// Whether a database file may be made. A command that only looks must not leave an empty database
/// behind if its user has misspelled a path.
enum class OpenMode { MayCreate, MustExist };

/// Opens the store that `text` names. Throws Error: StoreUnavailable where there is none, or where
/// this program was built without that kind of store.
StorePtr open_store(std::string_view text, OpenMode mode);

}  // namespace ebb::cli
