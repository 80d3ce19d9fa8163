#include "call/contract.h"

#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

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

Payload fill_in(const Json& defaults, Payload input) {
    if (defaults.is_null()) return input;
    Json whole = Json::parse(input, nullptr, false);
    if (whole.is_null()) return to_text(defaults);
    if (!whole.is_object()) return input;
    for (const auto& [key, value] : defaults.items()) {
        if (!whole.contains(key)) whole[key] = value;
    }
    return to_text(whole);
}

[[noreturn]] void fail_for_good(const char* code, const std::string& message) {
    throw HandlerFailure(
        message, {.code = code, .is_permanent = true, .retry_after = {}, .details = {}}
    );
}

std::shared_ptr<const Validator> make_validator(
    const ValidatorFactory& factory, const Payload& schema
) {
    return schema.empty() ? nullptr : factory(schema);
}

/// The value that the validator returns. `what` is the start of the sentence that says what is
/// wrong otherwise.
Payload validated(
    const Validator* validator, Payload value, const char* code, const std::string& what
) {
    if (validator == nullptr) return value;
    Validation validation = validator->validate(value);
    if (!validation.violations.empty()) {
        fail_for_good(code, fmt::format("{}: {}", what, fmt::join(validation.violations, "; ")));
    }
    if (!validation.value) return value;
    if (Json::accept(*validation.value)) return std::move(*validation.value);
    fail_for_good(code, what + ": the validator returned a text that is not JSON");
}

/// {"data", "nextHandle", "__pause"}; a null handle is none.
Payload open_envelope(const Payload& text, const StepContext& context) {
    const Json result = Json::parse(text, nullptr, false);
    if (!result.is_object()) {
        fail_for_good("invalid_output", "The handler must give {data, nextHandle, __pause}.");
    }
    if (const auto pause = result.find("__pause"); pause != result.end() && !pause->is_null()) {
        if (!pause->is_boolean()) {
            fail_for_good(
                "invalid_output",
                fmt::format("\"__pause\" must be true or false, but is {}.", to_text(*pause))
            );
        }
        if (pause->get<bool>()) context.pause();
    }
    const auto handle = result.find("nextHandle");
    if (handle != result.end() && !handle->is_null()) {
        if (!handle->is_string())
            fail_for_good("invalid_output", "\"nextHandle\" must be a string.");
        context.leave_by(handle->get<std::string>());
    }
    return to_text(result.value("data", Json()));
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

Contract::Contract(
    std::string name, const HandlerContract& declared, const ValidatorFactory& validators
)
    : name_(std::move(name)),
      defaults_(declared.defaults),
      result_(declared.type.result),
      input_(make_validator(validators, declared.type.input_schema)),
      output_(make_validator(validators, declared.type.output_schema)) {}

Payload Contract::accept(Payload input, const StepContext& context) const {
    if (context.compensates) return input;
    return validated(
        input_.get(),
        fill_in(defaults_, std::move(input)),
        "invalid_input",
        fmt::format("The input of \"{}\" does not fit its type \"{}\"", context.step, name_)
    );
}

Payload Contract::fulfil(Payload result, const StepContext& context) const {
    if (context.compensates) return result;
    if (result_ == NodeType::Result::Envelope) result = open_envelope(result, context);
    if (context.choice != nullptr && context.choice->is_paused) return result;
    return validated(
        output_.get(),
        std::move(result),
        "invalid_output",
        fmt::format("The output of \"{}\" does not fit its type \"{}\"", context.step, name_)
    );
}

Handler with_contract(const std::string& name, Handler handler, const HandlerContract& contract) {
    if (contract.is_empty()) return handler;
    return [handler = std::move(handler), kept = std::make_shared<const Contract>(name, contract)](
               const Payload& input, const StepContext& context
           ) { return kept->fulfil(handler(kept->accept(input, context), context), context); };
}

}  // namespace ebb
