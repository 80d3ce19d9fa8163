#pragma once

#include <functional>
#include <string>

#include "store/store.h"
#include "support/clock.h"

namespace ebb::golden {

/// The time at which every play begins.
inline constexpr TimePoint kStart{std::chrono::seconds(1'767'225'600)};

using Use = std::function<void(Store& store, ManualClock& clock)>;

/// Each gives `use` a store of its own that is empty, and removes it afterwards.
void with_memory(const Use& use);
void with_sqlite(const Use& use);
void with_postgres(const Use& use);

/// The same for who looks at the tables too: `place` is the file, or the schema on
/// postgres_server().
using UseAt = std::function<void(Store& store, ManualClock& clock, const std::string& place)>;
void with_sqlite_at(const UseAt& use);
void with_postgres_at(const UseAt& use);

}  // namespace ebb::golden
