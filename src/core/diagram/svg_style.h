#pragma once

#include <string>
#include <string_view>

#include "core/diagram/graph.h"

namespace ebb::diagram {

/// The style sheet, for light and dark. All its rules are confined to `.ebb-diagram`.
std::string style_sheet(const Graph& graph);

/// The class that gives a node its colors: its state, or else what it is.
std::string color_class(const GraphNode& node);

/// Path data around (0,0), at most 14 pixels wide; drawn as lines.
std::string_view kind_icon(Shape shape);
std::string_view state_icon(StepMark::State state);

}  // namespace ebb::diagram
