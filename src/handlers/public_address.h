#pragma once

#include <string>

struct sockaddr;

namespace ebb {

/// Whether the address belongs to the public internet: neither loopback, private, link-local,
/// shared, multicast nor reserved (the registries of IANA for special purposes), also inside of an
/// address of IPv6. False for other families.
bool is_public_address(const sockaddr* address) noexcept;

/// `10.1.2.3`, `fd00::1`; never empty.
std::string address_text(const sockaddr* address);

}  // namespace ebb
