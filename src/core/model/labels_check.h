#pragma once

#include <ebb/definition.h>

#include "core/model/check.h"
#include "core/model/document.h"
#include "core/model/map_reader.h"

// The key `labels` of a definition.

namespace ebb::model {

std::map<std::string, LabelSource> read_labels(const MapReader& root);

/// Names, types and what the templates read.
void check_labels(Findings& findings, const Definition& definition);

}  // namespace ebb::model
