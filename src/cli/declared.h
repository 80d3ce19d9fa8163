#pragma once

#include <vector>

#include "cli/serve_config.h"
#include "store/admin_store.h"
#include "store/store.h"
#include "support/secret_box.h"

namespace ebb {
class Engine;
}

namespace ebb::cli {

class Session;

/// Throws Error, with its place, for the first of them that is not valid. Changes nothing.
void check_declared(Session& session, const std::vector<Declared>& declared);

/// What apply_declared() works on.
struct DeclaredTarget {
    Engine& engine;
    Store& store;
    AdminStore& admin;
    const SecretBox* box = nullptr;  ///< seals secrets; null = they are stored in clear text
    std::string file{};              ///< the path of the file that declares; empty = none does
};

/// `webhooks NAME` and so on of what has changed.
struct DeclaredChanges {
    std::vector<std::string> applied{};
    std::vector<std::string> removed{};
};

/// Makes the database say what the file says, and removes what the same file (by its path) has
/// declared before and does not declare any more. What other files have declared stays, and
/// so does what no file has. A server without a file removes nothing. What is as declared is left
/// alone. Throws Error.
DeclaredChanges apply_declared(
    Session& session, const DeclaredTarget& target, const std::vector<Declared>& declared
);

}  // namespace ebb::cli
