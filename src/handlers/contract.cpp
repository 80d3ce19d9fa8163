#include "handlers/contract.h"

#include <utility>

#include <fmt/format.h>

namespace ebb {

namespace {

/// The value of a key that the entry then lacks; null when it had none.
Json take(Json& entry, const char* key) {
    const auto found = entry.find(key);
    if (found == entry.end()) return {};
    Json value = std::move(*found);
    entry.erase(found);
    return value;
}

Payload take_schema(
    Json& entry, const char* key, const std::string& path, std::vector<Diagnostic>& problems
) {
    const bool is_there = entry.contains(key);
    const Json schema = take(entry, key);
    if (!is_there) return {};
    try {
        const Payload text = to_text(schema);
        json_schema_validator(text);
        return text;
    } catch (const Error& error) {
        problems.push_back(
            {.code = "invalid_schema",
             .path = path + "/" + key,
             .message = fmt::format("\"{}\" is not a valid JSON Schema: {}", key, error.what())}
        );
        return {};
    }
}

NodeType::Result take_result(
    Json& entry, const std::string& path, std::vector<Diagnostic>& problems
) {
    const bool is_there = entry.contains("result");
    const Json result = take(entry, "result");
    if (!is_there || result == "output") return NodeType::Result::Output;
    if (result == "envelope") return NodeType::Result::Envelope;
    problems.push_back(
        {.code = "unknown_word",
         .path = path + "/result",
         .message = fmt::format(
             "\"result\" is {}; allowed are output, and envelope for a handler that returns "
             "{{data, nextHandle, __pause}}.",
             to_text(result)
         )}
    );
    return NodeType::Result::Output;
}

Payload fill_in(const Json& defaults, const Payload& input) {
    Json whole = Json::parse(input, nullptr, false);
    if (whole.is_null()) return to_text(defaults);
    if (!whole.is_object()) return input;
    for (const auto& [key, value] : defaults.items()) {
        if (!whole.contains(key)) whole[key] = value;
    }
    return to_text(whole);
}

}  // namespace

HandlerContract take_contract(
    Json& entry, const std::string& path, std::vector<Diagnostic>& problems
) {
    HandlerContract contract;
    contract.type.input_schema = take_schema(entry, "input_schema", path, problems);
    contract.type.output_schema = take_schema(entry, "output_schema", path, problems);
    contract.type.result = take_result(entry, path, problems);
    contract.defaults = take(entry, "defaults");
    if (!contract.defaults.is_null() && !contract.defaults.is_object()) {
        problems.push_back(
            {.code = "wrong_type",
             .path = path + "/defaults",
             .message = "\"defaults\" must be a map of default values for the input."}
        );
    }
    return contract;
}

Handler with_contract(const std::string& name, Handler handler, HandlerContract contract) {
    if (contract.is_empty()) return handler;
    NodeTypes types;
    types.add_raw(name, contract.type, std::move(handler));
    HandlerRegistry held;
    types.add_to(held);
    Handler checked = *held.find(name);
    if (contract.defaults.is_null()) return checked;
    return [checked = std::move(checked), defaults = std::move(contract.defaults)](
               const Payload& input, const StepContext& context
           ) { return checked(context.compensates ? input : fill_in(defaults, input), context); };
}

}  // namespace ebb
