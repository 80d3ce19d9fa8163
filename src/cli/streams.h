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

/// Where a text goes, and what its reader can show.
struct Output {
    /// Writes all of a text at once. Throws OutputClosed when nobody reads any more, and
    /// std::system_error for everything else. May be called from several threads.
    std::function<void(std::string_view)> write;
    bool is_terminal = false;
    /// The width now; it changes with the window.
    std::function<int()> columns = [] { return 80; };
    std::function<int()> rows = [] { return 24; };
};

/// The reader of the output has gone (`ebb list | head`): there is no reason to go on.
struct OutputClosed {};

/// Everything outside that a command talks to, so that tests can be its world.
struct CliStreams {
    Output out{};
    Output err{};
    std::function<std::string()> read_input;  ///< all of stdin
    std::function<std::optional<std::string>(const std::string& name)> environment;
    std::function<std::string()> user_name = ebb::user_name;
    /// Leads signals to `interrupts` until the result is destroyed.
    std::function<std::shared_ptr<void>(Interrupts& interrupts)> catch_signals;
    const Clock* clock = nullptr;  ///< not null
    std::function<StorePtr(std::string_view url, OpenMode mode)> open_store = cli::open_store;
};

/// This process's stdin, stdout, stderr, environment and signals.
CliStreams system_streams();

}  // namespace ebb::cli
