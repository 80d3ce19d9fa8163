#pragma once

#include <map>
#include <string>
#include <string_view>

#include <ebb/store.h>

namespace ebb::postgres {

/// Where and how to connect: the options of the caller and of the URL in one.
struct Settings {
    std::map<std::string, std::string> parameters;  ///< for libpq, the password among them
    std::string password;
    std::string schema = "ebb";
    bool caches_statements = true;
    bool migrates = true;
    int connections_max = 8;

    /// The same for sessions in which the application works, too: nothing is prepared in them.
    Settings plain() const;
    /// `text` with the schema's name where it says `ebb.`; as it is where that is the name.
    std::string in_schema(std::string_view text) const;
    /// `text` without the password, should it occur there.
    std::string without_password(std::string_view text) const;
    /// Which database it is, for messages: `postgresql://user@host:5432/orders`, no password.
    std::string target() const;
};

/// Throws Error with InvalidArgument for what cannot be right; no message shows the password.
Settings read_settings(const PostgresOptions& options);

}  // namespace ebb::postgres
