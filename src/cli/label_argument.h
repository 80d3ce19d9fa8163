#pragma once

#include <string>
#include <vector>

#include <ebb/label.h>

namespace ebb::cli {

/// Of `NAME=VALUE`, a text, and `NAME:TYPE=VALUE`. Throws Error with InvalidArgument.
Labels read_labels(const std::vector<std::string>& arguments);

/// `customer=acme total:number=99.5`; empty if there are none.
std::string labels_text(const Labels& labels);

}  // namespace ebb::cli
