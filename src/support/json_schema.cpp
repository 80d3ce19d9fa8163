#include "support/json_schema.h"

#include "support/json_schema_compiled.h"
#include "support/json_schema_run.h"

namespace ebb {

struct JsonSchema::Compiled {
    std::unique_ptr<const CompiledSchema> schema;
};

JsonSchema::JsonSchema(const Json& schema)
    : compiled_(std::make_unique<const Compiled>(Compiled{compile_schema(schema)})) {}

JsonSchema::~JsonSchema() = default;
JsonSchema::JsonSchema(JsonSchema&&) noexcept = default;
JsonSchema& JsonSchema::operator=(JsonSchema&&) noexcept = default;

std::vector<std::string> JsonSchema::violations(const Json& value) const {
    return SchemaRun(*compiled_->schema).violations(value);
}

bool JsonSchema::fill_defaults(Json& value) const {
    return ebb::fill_defaults(*compiled_->schema, value);
}

}  // namespace ebb
