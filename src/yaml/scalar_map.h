#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/document.h"

namespace ebb::yaml {

/// The text of a scalar and where each byte of it stands.
struct DecodedScalar {
    std::string text;
    /// Offsets in the source, one for each byte of `text` and one for its end; they never fall.
    std::vector<std::uint32_t> places;
};

/// Decodes a scalar as it is written: without its quotes, of a block the lines below its header. A
/// block keeps all its final line breaks. Never fails: an escape that YAML does not have stands for
/// itself.
DecodedScalar decode_scalar(std::string_view source, model::Document::Style style);

}  // namespace ebb::yaml
