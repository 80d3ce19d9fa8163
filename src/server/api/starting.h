#pragma once

#include <optional>
#include <string>

#include <ebb/engine_calls.h>

#include "server/api/body.h"
#include "server/api/service.h"
#include "view/payload_json.h"

// What the requests that start instances have in common.

namespace ebb::server {

/// The member `version`.
std::optional<int> read_version(Body& body);

/// The member `key`, or else the key that represents the Idempotency-Key; empty if there is
/// neither. Throws Problem.
std::string read_start_key(Body& body, const Call& call);

/// Throws Problem if `key`, that of read_start_key, represents an Idempotency-Key that was used for
/// another workflow or a batch.
void check_reserved(Service& service, const std::string& key, const std::string& workflow);

/// An Idempotency-Key identifies one request: throws Problem if another one, with another input or
/// version, has used it. `key` is that of read_start_key.
void check_same_start(
    const StartedInstance& started, const std::string& key, const std::optional<int>& version
);

view::Json started_json(const StartedInstance& started);

}  // namespace ebb::server
