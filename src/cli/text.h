#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <ebb/time.h>

namespace ebb::cli {

/// How many columns `text` takes on a terminal. Escape sequences of Style take none.
int display_width(std::string_view text);

/// `text` cut to at most `columns`, ending in `ellipsis` when something was cut.
std::string truncate(std::string_view text, int columns, std::string_view ellipsis);

/// `text` with spaces up to `columns`.
std::string pad(std::string_view text, int columns);

/// terminal_line: what comes from outside (payloads, messages, keys) must not move the cursor.
std::string one_line(std::string_view text);

/// `text` broken at spaces into lines of at most `columns`.
std::vector<std::string> wrap(std::string_view text, int columns);

/// How long something took: `4ms`, `0.3s`, `12.5s`, `3m 05s`, `2h 10m`, `3d 4h`.
std::string elapsed(Duration duration);

/// A count of bytes in a unit that fits: `512 bytes`, `3.2 KiB`, `17.4 MiB`, `63.9 GiB`.
std::string size_text(std::uint64_t bytes);

/// How long ago `time` was: `just now`, `12s ago`, `3m ago`, `2h ago`, `5d ago`.
std::string ago(TimePoint time, TimePoint now);

/// `2026-11-21 05:10:00` (UTC), for tables.
std::string short_time(TimePoint time);

/// `text` in a form that a shell reads as one word: quoted if necessary.
std::string shell_word(std::string_view text);

/// The one of `candidates` that was probably meant by `word`; empty when none is close.
std::string closest(std::string_view word, const std::vector<std::string>& candidates);

}  // namespace ebb::cli
