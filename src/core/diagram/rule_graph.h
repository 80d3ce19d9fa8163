#pragma once

#include <ebb/definition.h>

namespace ebb::diagram {

/// The transitions of a workflow with rules as the nodes of one graph. An edge says that a
/// transition may write what the condition of another one, or a final condition, reads.
Block rule_graph(const Definition& definition);

}  // namespace ebb::diagram
