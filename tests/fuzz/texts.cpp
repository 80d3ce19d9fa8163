// Fuzzes the small parsers of text that people type: ids and times. What is accepted
// must survive being written and read again.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include <ebb/id.h>

#include "support/clock.h"

namespace {

void must_hold(bool condition) {
    if (!condition) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    if (const auto id = ebb::InstanceId::parse(text)) {
        must_hold(ebb::InstanceId::parse(id->to_string()) == id);
    }
    if (const auto time = ebb::parse_time(text)) {
        must_hold(ebb::parse_time(ebb::format_time(*time)) == time);
    }
    return 0;
}
