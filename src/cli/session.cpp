#include "cli/session.h"

#include <algorithm>
#include <filesystem>
#include <limits>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/client.h"
#include "cli/fill.h"
#include "cli/remote_client.h"
#include "cli/secret_key.h"
#include "cli/text.h"
#include "store/store.h"
#include "support/terminal.h"
#include "view/payload_json.h"
#include "yaml/yaml_writer.h"

namespace ebb::cli {

Session::Session(CliStreams& streams, GlobalOptions options)
    : streams_(streams),
      options_(std::move(options)),
      is_db_from_environment_(options_.db.empty()),
      out_(streams.out, streams, options_.color),
      err_(streams.err, streams, options_.color) {
    // Who names a database means that one.
    if (options_.server.empty() && is_db_from_environment_) {
        server_ = streams.environment("EBB_SERVER").value_or("");
    } else {
        server_ = options_.server;
    }
    if (is_db_from_environment_) options_.db = streams.environment("EBB_DB").value_or("");
}

Session::~Session() = default;

int Session::columns() const {
    const bool is_wide = options_.format == OutputFormat::Wide;
    return streams_.out.is_terminal && !is_wide ? streams_.out.columns() : 0;
}

int Session::text_limit(int otherwise) const {
    // Half of it, so that margins can be added.
    constexpr int kNone = std::numeric_limits<int>::max() / 2;
    return options_.format == OutputFormat::Wide ? kNone : otherwise;
}

std::string Session::cut_hint(std::string_view text) const {
    if (columns() == 0 || text.find(out_.glyphs().ellipsis) == text.npos) return {};
    return out_.dim("Some texts are cut: -o wide prints all.\n");
}

void Session::print(std::string_view text) {
    streams_.out.write(text);
}

namespace {

/// A map as a document; of a list each element.
std::string yaml_text(const nlohmann::ordered_json& json) {
    if (json.is_object()) return view::with_all_digits(yaml::write_yaml(json));
    if (!json.is_array() || json.empty()) {
        return terminal_json(view::json_text(json)) + "\n";
    }
    std::string text;
    for (const auto& each : json) text += (text.empty() ? "" : "---\n") + yaml_text(each);
    return text;
}

}  // namespace

void Session::print_json(const nlohmann::ordered_json& json) {
    if (options_.format == OutputFormat::Yaml) return print(yaml_text(json));
    if (options_.format == OutputFormat::Jsonl) {
        std::string lines;
        if (!json.is_array()) lines = terminal_json(view::json_text(json)) + "\n";
        for (const auto& each : json.is_array() ? json : nlohmann::ordered_json::array()) {
            lines += terminal_json(view::json_text(each)) + "\n";
        }
        return print(lines);
    }
    const int indent = streams_.out.is_terminal ? 2 : -1;
    print(terminal_json(view::json_text(json, indent)) + "\n");
}

void Session::print_json_line(const nlohmann::ordered_json& json) {
    if (options_.format == OutputFormat::Yaml) return print("---\n" + yaml_text(json));
    print(terminal_json(view::json_text(json)) + "\n");
}

void Session::note(std::string_view text) {
    // With JSON output, stderr has only errors, as JSON.
    if (options_.is_quiet || options_.is_json) return;
    streams_.err.write(fill(text, streams_.err));
}

bool Session::is_in_memory() const {
    return options_.db.empty() || parse_store_url(options_.db).kind == StoreUrl::Kind::Memory;
}

std::string Session::db_option() const {
    if (!server_.empty()) {
        return options_.server.empty() ? "" : " --server " + shell_word(options_.server);
    }
    return is_db_from_environment_ ? "" : " --db " + shell_word(shown_url(options_.db));
}

namespace {

bool is_one_of(std::string_view command, std::initializer_list<std::string_view> commands) {
    return std::find(commands.begin(), commands.end(), command) != commands.end();
}

/// Where a command works that asks no server; empty = nowhere, because no database is named.
std::string place_without_server(std::string_view command, const std::string& db) {
    constexpr const char* kServedFile = "ebb.db";
    if (!db.empty()) return fmt::format("on {} (EBB_DB)", shown_url(db));
    if (is_one_of(command, {"run", "dev"})) return "in memory here";
    const bool is_served =
        is_one_of(command, {"token", "project", "grant", "audit", "session", "key", "login-link"});
    std::error_code error;
    if (command == "serve" || (is_served && std::filesystem::exists(kServedFile, error))) {
        return fmt::format("on {} in this folder", kServedFile);
    }
    return {};
}

}  // namespace

void Session::refuse_server(std::string_view command) {
    if (options_.server.empty()) {
        const bool is_ignored = !server_.empty() && !has_noted_server_;
        has_noted_server_ = true;
        if (!is_ignored) return;
        const std::string place = place_without_server(command, options_.db);
        if (place.empty()) {
            throw Error(
                ErrorCode::InvalidArgument,
                fmt::format(
                    "EBB_SERVER names a server, but `ebb {}` works on the database itself, not "
                    "over the API: give the --db of the server, or set EBB_DB.",
                    command
                )
            );
        }
        return note(fmt::format(
            "EBB_SERVER names a server, but `ebb {}` does not use one: it works {}.\n",
            command,
            place
        ));
    }
    throw Error(
        ErrorCode::InvalidArgument,
        fmt::format(
            "`ebb {}` works on the database itself, not over the API of a server: use --db instead "
            "of --server.",
            command
        )
    );
}

void Session::require_database(std::string_view command) {
    refuse_server(command);
    if (is_in_memory()) {
        throw Error(
            ErrorCode::InvalidArgument,
            options_.db.empty()
                ? fmt::format(
                      "`ebb {}` needs a database: give --db PATH (SQLite) or --db "
                      "postgresql://..., or set EBB_DB.",
                      command
                  )
                : fmt::format(
                      "`ebb {}` needs a database that outlives it: memory: ends with each command. "
                      "Give --db PATH (SQLite), or use `ebb run`, which does everything in one "
                      "process.",
                      command
                  )
        );
    }
}

Store& Session::shared_store(std::string_view command, OpenMode mode) {
    if (store_) return *store_;
    require_database(command);
    store_ = streams_.open_store(options_.db, mode);
    return *store_;
}

Store& Session::any_store() {
    refuse_server("run");
    if (!store_) {
        store_ = is_in_memory() ? open_memory_store()
                                : streams_.open_store(options_.db, OpenMode::MayCreate);
    }
    return *store_;
}

Engine& Session::client(std::string_view command) {
    if (!client_) {
        client_ = std::make_unique<Engine>(
            shared_store(command, OpenMode::MustExist), no_handlers_, EngineOptions{}
        );
    }
    return *client_;
}

Client& Session::connect(std::string_view command, OpenMode mode) {
    if (connected_) return *connected_;
    if (!server_.empty()) {
        ServerAddress address = parse_server(server_);
        address.ca_file = streams_.environment("EBB_CA_FILE").value_or("");
        address.client_cert = streams_.environment("EBB_CLIENT_CERT").value_or("");
        address.client_key = streams_.environment("EBB_CLIENT_KEY").value_or("");
        if (address.client_cert.empty() && !address.client_key.empty()) {
            throw Error(
                ErrorCode::InvalidArgument,
                "EBB_CLIENT_KEY is the key of a certificate; EBB_CLIENT_CERT must name its file."
            );
        }
        connected_ = make_remote_client(std::move(address), read_token(streams_));
    } else {
        Store& store = shared_store(command, mode);
        connected_ = make_local_client(client(command), store, *streams_.clock, [this] {
            return open_secret_box(*this);
        });
    }
    return *connected_;
}

std::string Session::by(const std::string& given) const {
    if (connected_ && !server_.empty()) {
        if (given.empty()) return {};
        throw Error(
            ErrorCode::InvalidArgument,
            "--by cannot be used with a server, which records who acts: the owner of the token, or "
            "\"anonymous\" if it runs with --no-auth."
        );
    }
    if (!given.empty()) return given;
    // A service's environment often has no USER.
    const std::string user = streams_.environment("USER").value_or("");
    return user.empty() ? streams_.user_name() : user;
}

}  // namespace ebb::cli
