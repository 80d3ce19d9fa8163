#pragma once

#include <string>
#include <string_view>

namespace ebb {

/// `text` as it stands between the tags and in the quoted attributes of HTML and XML.
std::string escape_markup(std::string_view text);

}  // namespace ebb
