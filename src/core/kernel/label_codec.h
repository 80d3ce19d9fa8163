#pragma once

#include <string_view>

#include <ebb/label.h>

#include "support/json_reader.h"
#include "support/json_writer.h"

// Labels inside the text of a state.

namespace ebb {

/// As the member `labels` of the object that was begun last; nothing if there are none.
void write_labels(JsonWriter& out, const Labels& labels);

/// The reverse, behind the member's name.
Labels read_labels(JsonReader& json);

/// Those of an encoded state, without decoding the rest of it. None if the text is damaged.
Labels labels_of_state(std::string_view state);

}  // namespace ebb
