#pragma once

#include <vector>

#include <ebb/definition.h>
#include <ebb/error.h>

namespace ebb {

/// Steps whose input has expressions over `globals`, `secrets` or `payload`, though they call an
/// entry of the definition's own `handlers`: these are called with their input as it is, so the
/// expression would be sent as text. Only NodeTypes fills it in.
std::vector<Diagnostic> find_unbound_inputs(const Definition& definition);

}  // namespace ebb
