#pragma once

#include <string>

#include "server/api/service.h"

namespace ebb::server {

/// The header Idempotency-Key; empty if the request has none. Throws Problem if its value is empty
/// or too long.
std::string idempotency_key(const Call& call);

/// The start key that represents the Idempotency-Key of a request; empty if it has none. `~` is in
/// no key of a user's own request. Throws Problem.
std::string reserved_key(const Call& call);

/// The start keys of a request that starts several instances, one for each; none without a key. The
/// first is `key` itself.
std::vector<std::string> reserved_keys(const std::string& key, std::size_t count);

/// An Idempotency-Key identifies one request: throws Problem if the request that has used `key`
/// was for another workflow or another number of instances. Starts nothing, so of two requests that
/// come at the same time it may see neither.
void check_same_request(
    Store& store, const std::string& key, const std::string& workflow, std::size_t count = 1
);

}  // namespace ebb::server
