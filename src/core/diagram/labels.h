#pragma once

#include <string>

#include <ebb/definition.h>

// The second line of a node: what it does, in the fewest words.

namespace ebb::diagram {

/// `90s` as `1m30s`, `48h` as `2d`, `1.5s` as `1s500ms`.
std::string short_duration(Duration duration);

/// `all`, `any`, `2 of 3`.
std::string join_words(const Parallel& parallel);

std::string sublabel(const Node& node);

}  // namespace ebb::diagram
