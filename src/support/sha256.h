#pragma once

#include <string>
#include <string_view>

namespace ebb {

/// SHA-256 (FIPS 180-4) of `text` as 64 lower-case hexadecimal digits: for fingerprints, not for
/// secrets.
std::string sha256_hex(std::string_view text);

}  // namespace ebb
