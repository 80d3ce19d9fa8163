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

class Client;

/// One call of the command: its environment, its global options, and the store once it is needed.
class Session {
 public:
    Session(CliStreams& streams, GlobalOptions options);
    Session(const Session&) = delete;
    Session& operator=(const Session&) = delete;
    ~Session();

    CliStreams& streams() { return streams_; }

    const GlobalOptions& options() const { return options_; }

    /// The style of texts on stdout and on stderr.
    const Style& out() const { return out_; }

    const Style& err() const { return err_; }

    TimePoint now() const { return streams_.clock->now(); }

    /// The width of stdout; 0 (unbounded) if it is not a terminal, and with `-o wide`.
    int columns() const;
    /// A limit of a text that is not the width of the terminal: none with `-o wide`.
    int text_limit(int otherwise) const;
    /// The line that says how to see what of `text` was cut at the width of the terminal; empty if
    /// nothing was.
    std::string cut_hint(std::string_view text) const;

    /// To stdout.
    void print(std::string_view text);
    /// One JSON document and a line break, indented on a terminal only; with `-o jsonl` each
    /// element of an array on its own line, with `-o yaml` YAML.
    void print_json(const nlohmann::ordered_json& json);
    /// One JSON document on one line, for results that come one after another.
    void print_json_line(const nlohmann::ordered_json& json);
    /// Useful information that is not a result: to stderr, unless --quiet or --json.
    void note(std::string_view text);

    /// Throws an error that names `command` if --db names no database that other commands can see.
    void require_database(std::string_view command);
    /// The store of --db. It must be one that other commands can see; otherwise the error names
    /// `command`.
    Store& shared_store(std::string_view command, OpenMode mode);
    /// The store of --db, or one in memory.
    Store& any_store();
    bool is_in_memory() const;
    /// As an option for another command: `--db X` or `--server X`, or nothing if the environment
    /// says it.
    std::string db_option() const;

    /// An engine that starts and controls instances but runs nothing, on shared_store(command,
    /// MustExist).
    Engine& client(std::string_view command);

    /// What `command` looks at and steers: the server of --server or EBB_SERVER, or else the
    /// database of --db. --db is stronger than EBB_SERVER.
    Client& connect(std::string_view command, OpenMode mode = OpenMode::MustExist);

    /// What connect() has returned; null before.
    Client* connected() { return connected_.get(); }

    /// Throws if --server was given: `command` cannot work over the API. If EBB_SERVER names a
    /// server, it is not asked, and a note says so.
    void refuse_server(std::string_view command);

    /// `given`, or else the user's name. Of a server, the token says who acts: a name is refused.
    std::string by(const std::string& given) const;

 private:
    CliStreams& streams_;
    GlobalOptions options_;
    bool is_db_from_environment_ = false;
    std::string server_;  ///< of --server or EBB_SERVER; empty = the database
    bool has_noted_server_ = false;
    Style out_;
    Style err_;
    StorePtr store_;
    HandlerRegistry no_handlers_;
    std::unique_ptr<Engine> client_;
    std::unique_ptr<Client> connected_;
};

}  // namespace ebb::cli
