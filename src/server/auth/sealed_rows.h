#pragma once

#include "store/admin_store.h"
#include "store/store.h"
#include "support/secret_box.h"

namespace ebb::server {

/// Seals all stored secrets that are not sealed with the present key of `box`: those of webhooks
/// and hooks, and the signing key. Returns how many. Null: seals nothing, and throws Error if one
/// is sealed. Safe to repeat, also while servers run.
int seal_rows(Store& store, AdminStore& admin, const SecretBox* box);

}  // namespace ebb::server
