#pragma once

#include <string>

#include "cli/style.h"
#include "view/outline.h"

// An instance in one line of a table.

namespace ebb::cli {

/// `waiting` for a running instance of which nothing runs, else its status.
std::string_view shown_status(const view::Outline& outline);

/// The same of a whole view: it runs, and no worker works on it now.
bool is_waiting(const InstanceView& view);

/// What it waits for, what runs, or why it failed, in a few words: `decision approve, in 2d 23h`.
std::string details_of(const view::Outline& outline, TimePoint now, const Style& style);

}  // namespace ebb::cli
