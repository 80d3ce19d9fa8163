#include "store/postgres/settings.h"

#include <algorithm>
#include <charconv>
#include <memory>
#include <utility>

#include <fmt/format.h>
#include <libpq-fe.h>

#include <ebb/error.h>

#include "support/redact.h"

namespace ebb::postgres {

namespace {

constexpr std::size_t kSchemaNameMax = 63;
constexpr int kConnectionsMax = 1'000;

[[noreturn]] void refuse(const std::string& message) {
    throw Error(ErrorCode::InvalidArgument, message);
}

bool is_word(char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
}

void check_schema_name(std::string_view name) {
    const bool is_valid = !name.empty() && name.size() <= kSchemaNameMax &&
                          !(name[0] >= '0' && name[0] <= '9') && !name.starts_with("pg_") &&
                          std::all_of(name.begin(), name.end(), is_word);
    if (is_valid) return;
    refuse(fmt::format(
        "\"{}\" cannot be the schema of a PostgreSQL store: a name has a-z, 0-9 and _, at most {} "
        "characters, no digit first and not pg_.",
        name,
        kSchemaNameMax
    ));
}

void set_connections(Settings& settings, std::string_view value) {
    const auto [end, error] =
        std::from_chars(value.data(), value.data() + value.size(), settings.connections_max);
    const bool is_number = error == std::errc() && end == value.data() + value.size();
    if (is_number && settings.connections_max >= 1 && settings.connections_max <= kConnectionsMax) {
        return;
    }
    refuse(fmt::format("connections_max of a PostgreSQL store is 1 to {}.", kConnectionsMax));
}

bool on_or_off(std::string_view name, std::string_view value) {
    if (value == "on" || value == "true") return true;
    if (value == "off" || value == "false") return false;
    refuse(fmt::format("{} in the URL of a PostgreSQL store is on or off.", name));
}

/// Takes the parameter when it is one of ours.
bool take_own(Settings& settings, std::string_view name, std::string_view value) {
    if (name == "schema") {
        settings.schema = value;
    } else if (name == "statement_cache") {
        settings.caches_statements = on_or_off(name, value);
    } else if (name == "migrate") {
        settings.migrates = on_or_off(name, value);
    } else if (name == "connections_max") {
        set_connections(settings, value);
    } else {
        return false;
    }
    return true;
}

struct FreeOptions {
    void operator()(PQconninfoOption* options) const noexcept { PQconninfoFree(options); }
};

/// A parameter that libpq does not know would be refused without its name.
void check_known(std::string_view name) {
    const std::unique_ptr<PQconninfoOption, FreeOptions> known(PQconndefaults());
    const PQconninfoOption* option = known.get();
    while (option != nullptr && option->keyword != nullptr && name != option->keyword) ++option;
    // "ssl=true" is how JDBC says it, and libpq takes it.
    const bool is_known = option == nullptr || option->keyword != nullptr || name == "ssl";
    const bool is_word_only = std::all_of(name.begin(), name.end(), is_word);
    // What is percent-encoded is left to libpq.
    if (is_known || !is_word_only) return;
    refuse(fmt::format(
        "The database URL has the parameter \"{}\", which is neither a parameter of libpq nor one "
        "of schema, statement_cache, migrate, connections_max.",
        name
    ));
}

/// `postgresql://host/database&schema=a` would ask for a database of that long name.
void check_first_separator(std::string_view before_question) {
    const std::string_view database = before_question.substr(before_question.rfind('/') + 1);
    const std::size_t ampersand = database.find('&');
    if (ampersand == std::string_view::npos) return;
    const bool is_parameter = database.find('=', ampersand) != std::string_view::npos;
    // Behind the last / there may be a password and the host.
    if (!is_parameter || database.find('@') != std::string_view::npos) return;
    refuse(
        "The parameters in the database URL begin with a ?, and only between them is a &, as in "
        "postgresql://HOST/DATABASE?schema=flows&sslmode=require. In a name & is written %26."
    );
}

/// The URL as libpq knows it: without our own parameters, which it would refuse.
std::string take_own_parameters(Settings& settings, std::string_view url) {
    const std::size_t question = url.find('?');
    std::string rest(url.substr(0, question));
    check_first_separator(rest);
    if (question == std::string_view::npos) return rest;
    std::string_view query = url.substr(question + 1);
    // Then it may be a part of a password that was not percent-encoded, and is not to be shown.
    const bool has_at_sign = query.find('@') != std::string_view::npos;
    char separator = '?';
    while (!query.empty()) {
        const std::size_t end = std::min(query.find('&'), query.size());
        const std::string_view part = query.substr(0, end);
        query.remove_prefix(std::min(end + 1, query.size()));
        const std::size_t equals = std::min(part.find('='), part.size());
        const std::string_view value = part.substr(std::min(equals + 1, part.size()));
        if (part.empty() || take_own(settings, part.substr(0, equals), value)) continue;
        if (!has_at_sign) check_known(part.substr(0, equals));
        rest += separator;
        rest += part;
        separator = '&';
    }
    return rest;
}

void check_ports(const std::map<std::string, std::string>& parameters) {
    const auto port = parameters.find("port");
    if (port == parameters.end()) return;
    const bool is_valid = std::all_of(port->second.begin(), port->second.end(), [](char c) {
        return (c >= '0' && c <= '9') || c == ',';
    });
    if (is_valid) return;
    // Does not show it: behind a password with a '/' or '@' of its own it is a part of that.
    refuse(
        "The port in the database URL is not a number. A password or name with one of @ : / ? # % "
        "must be percent-encoded, such as %40 for @."
    );
}

void parse_url(Settings& settings, const std::string& url) {
    char* message = nullptr;
    const std::unique_ptr<PQconninfoOption, FreeOptions> options(
        PQconninfoParse(url.c_str(), &message)
    );
    if (message != nullptr) PQfreemem(message);
    if (!options) {
        refuse(
            "The database URL cannot be read. It is "
            "postgresql://USER:PASSWORD@HOST:PORT/DATABASE?PARAMETER=VALUE with the parameters of "
            "libpq and schema, statement_cache, migrate, connections_max; special characters are "
            "percent-encoded."
        );
    }
    for (const PQconninfoOption* option = options.get(); option->keyword != nullptr; ++option) {
        if (option->val != nullptr) settings.parameters[option->keyword] = option->val;
    }
    check_ports(settings.parameters);
}

}  // namespace

Settings Settings::plain() const {
    Settings plain = *this;
    plain.caches_statements = false;
    return plain;
}

std::string Settings::in_schema(std::string_view text) const {
    constexpr std::string_view kName = "ebb";
    if (schema == kName) return std::string(text);
    std::string replaced;
    std::size_t done = 0;
    for (std::size_t at = text.find(kName); at != std::string_view::npos;
         at = text.find(kName, at + 1)) {
        const std::size_t end = at + kName.size();
        const bool starts = at == 0 || (!is_word(text[at - 1]) && text[at - 1] != '.');
        const bool ends = end < text.size() && (text[end] == '.' || text[end] == ';');
        if (!starts || !ends) continue;
        replaced += text.substr(done, at - done);
        replaced += '"' + schema + '"';
        done = end;
    }
    replaced += text.substr(done);
    return replaced;
}

std::string Settings::without_password(std::string_view text) const {
    // libpq quotes a part of a URL that it cannot read, so every length counts.
    return Redactor({password}, 1).text(text);
}

std::string Settings::target() const {
    const auto part = [this](const char* name, std::string_view before, std::string_view after) {
        const auto found = parameters.find(name);
        if (found == parameters.end() || found->second.empty()) return std::string();
        return fmt::format("{}{}{}", before, found->second, after);
    };
    return "postgresql://" + part("user", "", "@") + part("host", "", "") + part("port", ":", "") +
           part("dbname", "/", "");
}

Settings read_settings(const PostgresOptions& options) {
    Settings settings;
    settings.schema = options.schema;
    settings.caches_statements = options.statement_cache == PostgresOptions::StatementCache::On;
    settings.migrates = options.migrate;
    settings.connections_max = options.connections_max;
    if (!options.url.starts_with("postgresql://") && !options.url.starts_with("postgres://")) {
        refuse("The URL of a PostgreSQL store begins with postgresql:// or postgres://.");
    }
    parse_url(settings, take_own_parameters(settings, options.url));
    check_schema_name(settings.schema);
    set_connections(settings, std::to_string(settings.connections_max));
    if (const auto password = settings.parameters.find("password");
        password != settings.parameters.end()) {
        settings.password = password->second;
    }
    // Only if the caller has not set it: a dead host is noticed within half a minute.
    const std::map<std::string, std::string> defaults{
        {"application_name", options.application_name},
        {"connect_timeout", "10"},
        {"keepalives_idle", "15"},
        {"keepalives_interval", "5"},
        {"keepalives_count", "3"},
        {"tcp_user_timeout", "30000"},
    };
    settings.parameters.insert(defaults.begin(), defaults.end());
    settings.parameters["client_encoding"] = "UTF8";
    return settings;
}

}  // namespace ebb::postgres
