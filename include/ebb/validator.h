#pragma once

#include <memory>
#include <string>
#include <vector>

#include <ebb/interceptor.h>

namespace ebb {

/// A rule: what a payload must look like, as JSON Schema (draft 7).
struct ValidationRule {
    enum class Place {
        Start,   ///< the input of an instance; a start that does not conform is refused
        Input,   ///< the input of a step
        Output,  ///< the output of a step
    };

    Place place = Place::Input;
    std::string workflow{};  ///< empty = all
    std::string step{};      ///< empty = all; has no meaning for Place::Start
    Payload schema;
};

/// An interceptor that compares payloads with JSON Schemas. A start that does not conform throws
/// Error with InvalidPayload and stores nothing. A step whose input or output does not conform
/// fails for good, with the code `invalid_input` or `invalid_output`; a wrong input calls no
/// handler. Compensations are not checked. All rules that fit are applied. Throws Error with
/// InvalidPayload for a schema that cannot be used.
std::shared_ptr<Interceptor> make_validator(const std::vector<ValidationRule>& rules);

}  // namespace ebb
