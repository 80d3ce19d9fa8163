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
};

/// Makes the database say what the file says, and removes what an earlier file has declared and
/// this one does not. What is as declared is left alone. Returns `webhooks NAME` and so on of what
/// has changed. Throws Error.
std::vector<std::string> apply_declared(
    Session& session, const DeclaredTarget& target, const std::vector<Declared>& declared
);

}  // namespace ebb::cli
