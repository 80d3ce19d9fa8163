#include "handlers/unbound.h"

#include <fmt/format.h>

#include "core/model/late_text.h"
#include "core/model/walk.h"
#include "core/model/words.h"

namespace ebb {

std::vector<Diagnostic> find_unbound_inputs(const Definition& definition) {
    std::vector<Diagnostic> problems;
    const model::Walk walk(definition);
    for (const model::Placed& placed : walk.nodes()) {
        const auto* step = std::get_if<Step>(&placed.node->kind);
        if (step == nullptr || step->input.empty()) continue;
        const std::string& handler = step->handler.empty() ? placed.node->name : step->handler;
        if (!definition.handlers.contains(handler)) continue;
        for (const model::LateText& late : model::late_texts(step->input)) {
            problems.push_back(
                {.code = "late_expression",
                 .path = placed.path + "/input" + late.at.to_string(),
                 .message = fmt::format(
                     "Nothing fills in globals, secrets or payload for the handler {}, so this "
                     "would be sent as text. Name the variable in \"pass_env\" of the handler and "
                     "write ${{env.NAME}} there.",
                     model::in_quotes(handler)
                 )}
            );
        }
    }
    return problems;
}

}  // namespace ebb
