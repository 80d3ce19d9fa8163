#pragma once

#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include <ebb/json.h>

#include "cli/run_cli.h"
#include "support/os_file.h"

namespace ebb::cli::testing {

/// The result of a command.
struct Outcome {
    int code = -1;
    std::string out;
    std::string err;
};

/// A world for commands that run inside the test: a folder, an environment, and captured output.
class CliWorld {
 public:
    CliWorld();

    /// Runs `ebb` with `args`.
    Outcome run(const std::vector<std::string>& args);

    /// The same, over this world's own database.
    Outcome run_db(std::vector<std::string> args);

    /// Writes a file and returns its path.
    std::string file(std::string_view name, std::string_view content) const;
    std::string path(std::string_view name) const;

    std::map<std::string, std::string> environment{{"USER", "ann"}, {"LANG", "C.UTF-8"}};
    std::string input;
    std::string user_name = "system-user";
    /// Wraps the store between a command and its database.
    std::function<StorePtr(StorePtr)> wrap_store = [](StorePtr store) { return store; };
    bool is_terminal = false;
    int columns = 100;
    /// Called with all stderr output so far, and with the signals of the command.
    std::function<void(const std::string& err, Interrupts& interrupts)> on_err;
    /// From now on, every write finds its reader gone.
    bool is_closed = false;

 private:
    void write_err(std::string_view text);

    TempDirectory directory_;
    std::mutex mutex_;
    Interrupts* interrupts_ = nullptr;
    Outcome outcome_;
};

/// The id of an instance of `workflow`, the text of a definition, that `ebb start` has started with
/// `more` arguments.
std::string started(CliWorld& world, std::string_view workflow, std::vector<std::string> more = {});

/// `text` with varying parts replaced: ids by <id>, times by <time>, durations by <t>, the folder
/// by <dir>, and runs of spaces by one space.
std::string normal(const CliWorld& world, std::string text);

/// The `n`-th line (from 0), without its end.
std::string line_of(const std::string& text, std::size_t n);

}  // namespace ebb::cli::testing
