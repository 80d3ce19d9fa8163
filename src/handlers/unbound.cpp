#include "handlers/unbound.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/model/late_text.h"
#include "core/model/walk.h"
#include "core/model/words.h"
#include "support/json.h"

namespace ebb {

namespace {

/// Calls `visit(text, pointer)` for each text in the value.
template <typename Visit>
void each_text(const Json& value, const Json::json_pointer& at, const Visit& visit) {
    if (value.is_string()) return visit(value.get_ref<const std::string&>(), at);
    if (value.is_array()) {
        for (std::size_t i = 0; i < value.size(); ++i) each_text(value[i], at / i, visit);
    } else if (value.is_object()) {
        for (const auto& [key, part] : value.items()) each_text(part, at / key, visit);
    }
}

}  // namespace

std::vector<Diagnostic> find_unbound_inputs(const Definition& definition) {
    std::vector<Diagnostic> problems;
    const model::Walk walk(definition);
    for (const model::Placed& placed : walk.nodes()) {
        const auto* step = std::get_if<Step>(&placed.node->kind);
        if (step == nullptr || step->input.empty()) continue;
        const std::string& handler = step->handler.empty() ? placed.node->name : step->handler;
        if (!definition.handlers.contains(handler)) continue;
        const Json input = Json::parse(step->input, nullptr, false);
        each_text(
            input,
            Json::json_pointer(),
            [&](const std::string& text, const Json::json_pointer& at) {
                if (model::expose_late(text) == text) return;
                problems.push_back(
                    {.code = "late_expression",
                     .path = placed.path + "/input" + at.to_string(),
                     .message = fmt::format(
                         "Nothing fills in globals, secrets or payload for the handler {}, so this "
                         "would be sent as text. Name the variable in \"pass_env\" of the handler "
                         "and "
                         "write ${{env.NAME}} there.",
                         model::in_quotes(handler)
                     )}
                );
            }
        );
    }
    return problems;
}

}  // namespace ebb
