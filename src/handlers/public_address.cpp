#include "handlers/public_address.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>

#include <arpa/inet.h>
#include <netinet/in.h>

namespace ebb {

namespace {

struct Range4 {
    std::uint32_t first;
    unsigned bits;
};

constexpr std::uint32_t ip4(unsigned a, unsigned b, unsigned c, unsigned d) {
    return (a << 24U) | (b << 16U) | (c << 8U) | d;
}

/// What is not global in IANA's registry of special IPv4 addresses, multicast, and class E.
constexpr std::array kReserved4 = {
    Range4{ip4(0, 0, 0, 0), 8},
    Range4{ip4(10, 0, 0, 0), 8},
    Range4{ip4(100, 64, 0, 0), 10},
    Range4{ip4(127, 0, 0, 0), 8},
    Range4{ip4(169, 254, 0, 0), 16},
    Range4{ip4(172, 16, 0, 0), 12},
    Range4{ip4(192, 0, 0, 0), 24},
    Range4{ip4(192, 0, 2, 0), 24},
    Range4{ip4(192, 88, 99, 0), 24},
    Range4{ip4(192, 168, 0, 0), 16},
    Range4{ip4(198, 18, 0, 0), 15},
    Range4{ip4(198, 51, 100, 0), 24},
    Range4{ip4(203, 0, 113, 0), 24},
    Range4{ip4(224, 0, 0, 0), 4},
    Range4{ip4(240, 0, 0, 0), 4},
};

bool is_public4(std::uint32_t address) {
    return std::none_of(kReserved4.begin(), kReserved4.end(), [&](const Range4& range) {
        return (address ^ range.first) >> (32 - range.bits) == 0;
    });
}

using Bytes6 = std::array<std::uint8_t, 16>;

struct Range6 {
    Bytes6 first;
    unsigned bits;
};

/// Inside of 2000::/3, which is all that is global.
constexpr std::array kReserved6 = {
    Range6{{0x20, 0x01, 0x00}, 23},        // protocols, among them Teredo
    Range6{{0x20, 0x01, 0x0d, 0xb8}, 32},  // documentation
    Range6{{0x20, 0x02}, 16},              // 6to4
    Range6{{0x3f, 0xff, 0x00}, 20},        // documentation
};

bool is_in(const Bytes6& address, const Range6& range) {
    for (unsigned bit = 0; bit < range.bits; ++bit) {
        const unsigned mask = 0x80U >> (bit % 8);
        if (((address[bit / 8] ^ range.first[bit / 8]) & mask) != 0) return false;
    }
    return true;
}

std::uint32_t tail4(const Bytes6& address) {
    return ip4(address[12], address[13], address[14], address[15]);
}

bool is_public6(const Bytes6& address) {
    constexpr Range6 kMapped{{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff}, 96};
    constexpr Range6 kTranslated{{0x00, 0x64, 0xff, 0x9b}, 96};
    constexpr Range6 kGlobal{{0x20}, 3};
    if (is_in(address, kMapped) || is_in(address, kTranslated)) return is_public4(tail4(address));
    return is_in(address, kGlobal) &&
           std::none_of(kReserved6.begin(), kReserved6.end(), [&](const Range6& range) {
               return is_in(address, range);
           });
}

}  // namespace

bool is_public_address(const sockaddr* address) noexcept {
    if (address->sa_family == AF_INET) {
        sockaddr_in four{};
        std::memcpy(&four, address, sizeof four);
        return is_public4(ntohl(four.sin_addr.s_addr));
    }
    if (address->sa_family != AF_INET6) return false;
    sockaddr_in6 six{};
    std::memcpy(&six, address, sizeof six);
    Bytes6 bytes{};
    std::memcpy(bytes.data(), &six.sin6_addr, bytes.size());
    return is_public6(bytes);
}

std::string address_text(const sockaddr* address) {
    std::array<char, INET6_ADDRSTRLEN> text{};
    const char* found = nullptr;
    if (address->sa_family == AF_INET) {
        sockaddr_in four{};
        std::memcpy(&four, address, sizeof four);
        found = inet_ntop(AF_INET, &four.sin_addr, text.data(), text.size());
    } else if (address->sa_family == AF_INET6) {
        sockaddr_in6 six{};
        std::memcpy(&six, address, sizeof six);
        found = inet_ntop(AF_INET6, &six.sin6_addr, text.data(), text.size());
    }
    return found == nullptr ? "of an unknown family" : found;
}

}  // namespace ebb
