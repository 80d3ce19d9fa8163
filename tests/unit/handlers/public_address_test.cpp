// Goal: an address is public only if the whole internet can reach it. Method: the ranges of IANA's
// registries for special purposes, their borders, and IPv4 inside of IPv6.

#include "handlers/public_address.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>

namespace ebb {
namespace {

bool is_public(const char* text) {
    sockaddr_in four{};
    four.sin_family = AF_INET;
    if (inet_pton(AF_INET, text, &four.sin_addr) == 1) {
        return is_public_address(reinterpret_cast<const sockaddr*>(&four));
    }
    sockaddr_in6 six{};
    six.sin6_family = AF_INET6;
    EXPECT_EQ(inet_pton(AF_INET6, text, &six.sin6_addr), 1) << text;
    return is_public_address(reinterpret_cast<const sockaddr*>(&six));
}

TEST(PublicAddress, refuses_what_is_not_of_the_public_internet) {
    for (const char* address :
         {"0.0.0.0",
          "10.1.2.3",
          "100.64.0.1",
          "100.127.255.255",
          "127.0.0.1",
          "127.255.255.254",
          "169.254.169.254",
          "172.16.0.1",
          "172.31.255.255",
          "192.168.1.1",
          "198.18.0.1",
          "198.19.255.255",
          "203.0.113.9",
          "224.0.0.1",
          "255.255.255.255",
          "::",
          "::1",
          "::ffff:127.0.0.1",
          "::ffff:10.0.0.1",
          "64:ff9b::10.0.0.1",
          "fc00::1",
          "fd12::1",
          "fe80::1",
          "ff02::1",
          "2001:db8::1",
          "2001::1",
          "2002:7f00:1::",
          "::127.0.0.1"}) {
        EXPECT_FALSE(is_public(address)) << address;
    }
}

TEST(PublicAddress, allows_what_is) {
    for (const char* address :
         {"1.1.1.1",
          "9.255.255.255",
          "11.0.0.0",
          "100.63.255.255",
          "100.128.0.0",
          "172.15.255.255",
          "172.32.0.0",
          "198.17.255.255",
          "198.20.0.0",
          "223.255.255.255",
          "::ffff:1.1.1.1",
          "64:ff9b::1.1.1.1",
          "2606:4700::1111",
          "2a00::1"}) {
        EXPECT_TRUE(is_public(address)) << address;
    }
}

TEST(PublicAddress, refuses_other_families) {
    sockaddr local{};
    local.sa_family = AF_UNIX;
    EXPECT_FALSE(is_public_address(&local));
}

}  // namespace
}  // namespace ebb
