#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "cli/interrupts.h"
#include "cli/open_store.h"
#include "support/clock.h"
#include "support/os_environment.h"

namespace ebb::cli {

/// A destination for text, and what it can display.
struct Output {
    /// Writes the whole text at once. Throws OutputClosed if the reader is gone, and
    /// std::system_error for all other errors. May be called from several threads.
    std::function<void(std::string_view)> write;
    bool is_terminal = false;
    /// The current width; it changes with the window.
    std::function<int()> columns = [] { return 80; };
    std::function<int()> rows = [] { return 24; };
};

/// The reader of the output has gone (`ebb list | head`): there is no reason to continue.
struct OutputClosed {};

/// Everything outside of the process that a command uses, so that tests can replace it.
struct CliStreams {
    Output out{};
    Output err{};
    std::function<std::string()> read_input;  ///< all of stdin
    /// What has come on stdin: waits for more if `may_wait`, and then gives nothing at its end
    /// only, or when `is_over` is true, which it asks before it waits and from time to time.
    std::function<std::string(bool may_wait, const std::function<bool()>& is_over)> read_some{};
    std::function<std::optional<std::string>(const std::string& name)> environment;
    std::function<std::string()> user_name = ebb::user_name;
    /// Directs signals to `interrupts` until the result is destroyed.
    std::function<std::shared_ptr<void>(Interrupts& interrupts)> catch_signals;
    const Clock* clock = nullptr;  ///< not null
    std::function<StorePtr(std::string_view url, OpenMode mode)> open_store = cli::open_store;
};

/// This process's stdin, stdout, stderr, environment and signals.
CliStreams system_streams();

}  // namespace ebb::cli
