#pragma once

#include <memory>
#include <string>
#include <string_view>

#include <ebb/engine.h>
#include <ebb/json.h>
#include <ebb/store.h>

#include "cli/exit_code.h"
#include "cli/open_store.h"
#include "cli/options.h"
#include "cli/streams.h"
#include "cli/style.h"

namespace ebb::cli {

/// One call of the command: its world, its global options, and the store once it is needed.
class Session {
 public:
    Session(CliStreams& streams, GlobalOptions options);
    Session(const Session&) = delete;
    Session& operator=(const Session&) = delete;
    ~Session();

    CliStreams& streams() { return streams_; }

    const GlobalOptions& options() const { return options_; }

    /// How texts look on stdout and on stderr.
    const Style& out() const { return out_; }

    const Style& err() const { return err_; }

    TimePoint now() const { return streams_.clock->now(); }

    /// The width of stdout; 0 (unbounded) when it is no terminal.
    int columns() const;

    /// To stdout.
    void print(std::string_view text);
    /// One JSON document and a line break, indented on a terminal only; with `-o jsonl` each
    /// element of an array in a line of its own, with `-o yaml` YAML.
    void print_json(const nlohmann::ordered_json& json);
    /// One JSON document in one line, for results that come one after another.
    void print_json_line(const nlohmann::ordered_json& json);
    /// What is good to know but no result: to stderr, unless --quiet or --json.
    void note(std::string_view text);

    /// Throws where --db names no database that other commands can see; `command` is named then.
    void require_database(std::string_view command) const;
    /// The store of --db. It must be one that other commands can see: `command` is named in the
    /// error otherwise.
    Store& shared_store(std::string_view command, OpenMode mode);
    /// The store of --db, or one in memory.
    Store& any_store();
    bool is_in_memory() const;
    /// As an option for another command: `--db X`, or nothing where EBB_DB says it.
    std::string db_option() const;

    /// An engine that starts and steers but runs nothing, on shared_store(command, MustExist).
    Engine& client(std::string_view command);

    /// `given`, or else the user's name.
    std::string by(const std::string& given) const;

 private:
    CliStreams& streams_;
    GlobalOptions options_;
    bool is_db_from_environment_ = false;
    Style out_;
    Style err_;
    StorePtr store_;
    HandlerRegistry no_handlers_;
    std::unique_ptr<Engine> client_;
};

}  // namespace ebb::cli
