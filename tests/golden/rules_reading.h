#pragma once

#include <string>
#include <vector>

#include <ebb/instance.h>

namespace ebb::golden {

/// Reads the history of an instance with rules as an outsider would, who knows only that each write
/// says what it changes. Empty = every state is what the writes before it make; else what is wrong.
std::string broken_rule_of_writes(const std::vector<HistoryEntry>& history);

}  // namespace ebb::golden
