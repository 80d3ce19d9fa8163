// The precompiled header of all tests: what almost every test includes and what is dear to parse.
#pragma once
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

#include <ebb/json.h>

namespace ebb {

/// As text, not as a container of characters.
inline void PrintTo(const Payload& payload, std::ostream* out) {
    *out << static_cast<const std::string&>(payload);
}

}  // namespace ebb
