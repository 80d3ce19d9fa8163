#include "handlers/call_variables.h"

#include <algorithm>

#include <fmt/format.h>

#include "support/os_environment.h"

namespace ebb {

bool is_call_variable(std::string_view name) {
    return std::find(kCallVariables.begin(), kCallVariables.end(), name) != kCallVariables.end();
}

const Json* CallVariables::find(std::string_view name) const {
    if (!is_call_variable(name)) return nullptr;
    auto found = known_.find(name);
    if (found == known_.end()) found = known_.emplace(name, make(name)).first;
    return &found->second;
}

Json CallVariables::make(std::string_view name) const {
    if (name == "input") return Json::parse(input_text_);
    if (name == "payload") return context_.payload ? Json::parse(*context_.payload) : Json();
    if (name == "instance") return Json{{"id", context_.instance.to_string()}};
    if (name == "workflow") {
        return Json{{"name", context_.workflow}, {"version", context_.workflow_version}};
    }
    if (name == "step") return Json(context_.step);
    if (name == "attempt") return Json(context_.attempt);
    if (name == "idempotency_key") return Json(context_.idempotency_key);
    return Json(environment_);
}

CallVariables::Environment read_environment(const std::vector<std::string>& names) {
    CallVariables::Environment environment;
    for (const std::string& name : names) {
        if (auto value = environment_variable(name)) environment.emplace(name, std::move(*value));
    }
    return environment;
}

void throw_expression_failed(std::string_view what, const ExpressionError& error) {
    throw HandlerFailure(
        fmt::format("{} cannot be evaluated: {}", what, error.what()),
        {.code = "expression_failed", .is_permanent = true}
    );
}

std::string render_text(const Template& from, const Variables& variables, std::string_view what) {
    try {
        const Json value = from.render(variables);
        return value.is_string() ? value.get<std::string>() : to_text(value);
    } catch (const ExpressionError& error) {
        throw_expression_failed(what, error);
    }
}

}  // namespace ebb
