// Fuzzes the import of editors' graphs: any JSON gives a definition, which survives being exported
// and imported again, or a DefinitionError with problems.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include <nlohmann/json.hpp>

#include <ebb/node_graph.h>

namespace {

void must_hold(bool condition) {
    if (!condition) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    const ebb::Json graph = ebb::Json::parse(text, nullptr, false);
    if (graph.is_discarded()) return 0;
    try {
        const ebb::Definition definition = ebb::import_graph(graph);
        must_hold(ebb::validate(definition).empty());
        must_hold(ebb::import_graph(ebb::export_graph(definition)) == definition);
    } catch (const ebb::DefinitionError& error) {
        must_hold(!error.diagnostics().empty());
    }
    return 0;
}
