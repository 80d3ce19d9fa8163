// Fuzzes the reader of YAML definitions: any text gives a valid definition, which survives being
// written as YAML and read again, or a DefinitionError with problems.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include <ebb/yaml.h>

namespace {

void must_hold(bool condition) {
    if (!condition) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    try {
        const ebb::Definition definition = ebb::parse_definition_yaml(text, "fuzz.yaml");
        const std::string written = ebb::definition_to_yaml(definition);
        must_hold(ebb::parse_definition_yaml(written, "fuzz.yaml") == definition);
    } catch (const ebb::DefinitionError& error) {
        must_hold(!error.diagnostics().empty());
    }
    return 0;
}
