#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <ebb/json.h>

#include "core/model/document.h"
#include "core/model/map_reader.h"

// The key `samples` of a definition's text: named inputs to try the workflow with. They belong to
// the text and not to the definition: a version is the same with other samples, and nothing of
// them is registered.

namespace ebb::model {

struct Sample {
    static constexpr std::size_t kCountMax = 100;

    std::string name{};
    Payload input{};
};

/// Notes samples that are malformed or that do not fit the input schema (empty = none).
void check_samples(const MapReader& root, const Payload& input_schema);

/// Those that can be read, in the order of the text.
std::vector<Sample> samples_of(const Document& root);

/// The input of the sample with this name. Throws Error with the names that are like it.
Payload sample_input(const Document& root, std::string_view name);

}  // namespace ebb::model
