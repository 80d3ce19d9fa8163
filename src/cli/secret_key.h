#pragma once

#include <memory>
#include <string>

#include "cli/session.h"
#include "support/secret_box.h"

namespace ebb::cli {

/// Files with a key that encrypts the secrets in a database.
struct KeyFiles {
    std::string key{};
    std::string old_key{};  ///< also opens what this one has encrypted
};

/// From these files; where they are empty, from those that EBB_KEY and EBB_OLD_KEY name, or from
/// the credentials `ebb-key` and `ebb-old-key` of systemd. Null: there is no key. Throws Error.
std::shared_ptr<const SecretBox> open_secret_box(Session& session, KeyFiles files = {});

}  // namespace ebb::cli
