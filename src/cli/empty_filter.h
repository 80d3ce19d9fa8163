#pragma once

#include <string>

#include "cli/client.h"
#include "cli/session.h"

namespace ebb::cli {

/// Says which labels of a filter that found nothing are the likely reason: no instance has the
/// label, or the newest one that has it has another type. Silent if that is not certain, and with
/// --quiet or --json.
void explain_empty_filter(Session& session, Client& client, const std::string& where);

}  // namespace ebb::cli
