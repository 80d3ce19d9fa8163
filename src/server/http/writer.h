#pragma once

#include <string>
#include <string_view>

#include "server/http/http.h"

namespace ebb::http {

/// The status line and headers of a response, with its framing. Control characters in a header's
/// value are left out, so that no value can add a header.
struct HeadStyle {
    bool keeps_alive = true;
    bool is_chunked = false;     ///< the body's length is not known
    bool has_no_length = false;  ///< nor is it chunked: it ends with the connection
};

std::string write_head(const Response& response, const HeadStyle& style);

/// `OK`, `Not Found`, ...
std::string_view reason_of(int status);

}  // namespace ebb::http
