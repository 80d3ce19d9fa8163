// The precompiled header of all tests: what almost every test includes and what is expensive to
// parse.
#pragma once
#include <concepts>
#include <map>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

// No header of the project: ccache may take this from another checkout, whose files are other files
// to #pragma once.
namespace ebb {

class Payload;

/// As text, not as a container of characters.
template <std::same_as<Payload> T>
void PrintTo(const T& payload, std::ostream* out) {
    *out << static_cast<const std::string&>(payload);
}

}  // namespace ebb
