#include <ebb/definition.h>
#include <ebb/type_library.h>

#include "core/model/check.h"
#include "core/model/document.h"
#include "core/model/reader.h"
#include "core/model/writer.h"
#include "support/json.h"
#include "support/sha256.h"

namespace ebb {

std::vector<Diagnostic> validate(const Definition& definition) {
    return model::diagnostics_of(model::check(definition));
}

Json definition_to_json(const Definition& definition) {
    return Json(model::write_definition(definition));
}

Definition definition_from_json(const Json& json) {
    return model::read_and_check(model::to_document(json));
}

Definition parse_definition_json(std::string_view text) {
    return model::read_and_check(model::parse_json_document(text));
}

Definition definition_from_json(const Json& json, const TypeLibrary& types) {
    return model::read_and_check(model::to_document(json), {.types = &types.data()});
}

Definition parse_definition_json(std::string_view text, const TypeLibrary& types) {
    return model::read_and_check(model::parse_json_document(text), {.types = &types.data()});
}

std::string definition_checksum(const Definition& definition) {
    return sha256_hex(to_text(definition_to_json(definition)));
}

}  // namespace ebb
