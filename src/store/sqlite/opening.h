#pragma once

#include <ebb/store.h>

#include "store/sqlite/database.h"

namespace ebb::sqlite {

/// Opens the file, which is made when it does not exist, with a write-ahead log and as durable as
/// the options say. Throws InvalidArgument for options that cannot be right.
Database open_for_writing(const SqliteOptions& options);

}  // namespace ebb::sqlite
