#include <array>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "core/expression/fixed_fields.h"
#include "handlers/spec.h"
#include "handlers/spec_reader.h"

namespace ebb {

namespace {

using expression::FixedFields;

constexpr std::array<std::string_view, 1> kInstanceFields = {"id"};
constexpr std::array<std::string_view, 2> kWorkflowFields = {"name", "version"};

/// Of what CallVariables gives.
constexpr std::array<FixedFields, 5> kCallFields = {{
    {.variable = "instance", .fields = kInstanceFields},
    {.variable = "workflow", .fields = kWorkflowFields},
    {.variable = "step", .type = "a string"},
    {.variable = "attempt", .type = "an int"},
    {.variable = "idempotency_key", .type = "a string"},
}};

/// What an entry has of templates. A script is none.
std::vector<Json::json_pointer> template_places(const Json& entry) {
    using Pointer = Json::json_pointer;
    std::vector<Pointer> places;
    for (const char* place : {"/exec", "/env", "/http/url", "/http/headers", "/http/body"}) {
        const Pointer pointer(place);
        if (!entry.contains(pointer)) continue;
        const Json& value = entry[pointer];
        const bool has_parts = pointer != Pointer("/http/body") && value.is_structured();
        const bool is_script = pointer == Pointer("/exec") && value.is_string();
        if (!has_parts && !is_script) places.push_back(pointer);
        if (!has_parts) continue;
        for (const auto& part : value.items()) {
            places.push_back(
                value.is_array() ? pointer / std::stoul(part.key()) : pointer / part.key()
            );
        }
    }
    return places;
}

}  // namespace

void check_fields(const std::string& name, const Json& entry, std::vector<Diagnostic>& problems) {
    for (const Json::json_pointer& place : template_places(entry)) {
        for (expression::UnknownField& unknown :
             expression::unknown_fields_in(entry[place], kCallFields)) {
            problems.push_back(
                {.code = "unknown_field",
                 .path = "/handlers/" + escape_pointer(name) + place.to_string(),
                 .message = std::move(unknown.message)}
            );
        }
        for (expression::WrongCall& wrong : expression::wrong_calls_in(entry[place])) {
            problems.push_back(
                {.code = "invalid_expression",
                 .path = "/handlers/" + escape_pointer(name) + place.to_string(),
                 .message = std::move(wrong.message)}
            );
        }
    }
}

}  // namespace ebb
