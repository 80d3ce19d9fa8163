#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "store/sqlite/database.h"
#include "store/store.h"

// How rows become structs. What cannot be understood throws CorruptState and names the row.

namespace ebb::sqlite {

/// The id in `text`, which was read from `table`.
InstanceId parse_id(std::string_view text, std::string_view table);

/// Columns 0 to 10 in the order of the statement load_instance.
InstanceRow instance_row(const Query& query);

/// The columns of history_forward, the first of which is `first`.
HistoryEvent history_event(const Query& query, const InstanceId& instance, int first = 0);

/// All rows of the statement list_workers. `boot` is frame_of(clock).
std::vector<WorkerRow> worker_rows(Database& database, const Clock& clock, std::string_view boot);

/// A list of names as a JSON array, and back.
std::string names_to_json(const std::vector<std::string>& names);

}  // namespace ebb::sqlite
