// Fuzzes workflows with rules as YAML: any text gives a valid definition or a DefinitionError with
// problems; what is valid survives being written and read again, is analyzed to an end, and the
// kernel that plays it breaks none of the rules that the exploration checks in each state.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include <ebb/error.h>
#include <ebb/yaml.h>

#include "core/rules_analysis/analysis.h"
#include "core/rules_analysis/explore.h"

namespace {

constexpr std::size_t kStatesMax = 64;

void must_hold(bool condition) {
    if (!condition) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace ebb;
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    try {
        const Definition definition = parse_definition_yaml(text, "fuzz.yaml");
        must_hold(parse_definition_yaml(definition_to_yaml(definition), "fuzz.yaml") == definition);
        if (!definition.rules) return 0;
        rules_analysis::AnalysisOptions asked;
        asked.limits.states_max = kStatesMax;
        for (const Diagnostic& finding : rules_analysis::analyze(definition, asked).findings) {
            must_hold(!finding.code.empty() && !finding.message.empty());
        }
        const rules_analysis::ExploreOptions exploring{.states_max = kStatesMax, .outputs_max = 16};
        must_hold(rules_analysis::explore(definition, exploring).faults.empty());
    } catch (const DefinitionError& error) {
        must_hold(!error.diagnostics().empty());
    } catch (const Error& error) {
        // An instance cannot start with the defaults, or too many outputs are possible.
        must_hold(error.code() == ErrorCode::InvalidArgument);
    }
    return 0;
}
