// Fuzzes the reader of JSON definitions: any text gives a valid definition, which survives being
// written and read again, or a DefinitionError with problems.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include <nlohmann/json.hpp>

#include <ebb/definition.h>

namespace {

void must_hold(bool condition) {
    if (!condition) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    try {
        const ebb::Definition definition = ebb::parse_definition_json(text);
        must_hold(ebb::validate(definition).empty());
        const std::string written = ebb::definition_to_json(definition).dump();
        must_hold(ebb::parse_definition_json(written) == definition);
        must_hold(ebb::definition_checksum(definition).size() == 64);
    } catch (const ebb::DefinitionError& error) {
        must_hold(!error.diagnostics().empty());
    }
    return 0;
}
