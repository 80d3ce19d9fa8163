// It aborts instead of throwing where this is not set.
#define VALIJSON_USE_EXCEPTIONS 1

#include "unit/yaml/conformance.h"

#include <fstream>

#include <valijson/adapters/nlohmann_json_adapter.hpp>
#include <valijson/schema.hpp>
#include <valijson/schema_parser.hpp>
#include <valijson/validation_results.hpp>
#include <valijson/validator.hpp>

#include "ebb_test_dirs.h"

namespace ebb::test {

namespace {

struct PublishedSchema {
    valijson::Schema schema;

    explicit PublishedSchema(const std::string& name) {
        const Json json = Json::parse(std::ifstream(EBB_SOURCE_DIR "/schema/" + name));
        valijson::SchemaParser(valijson::SchemaParser::kDraft7)
            .populateSchema(valijson::adapters::NlohmannJsonAdapter(json), schema);
    }
};

}  // namespace

std::string violations_of_schema(const Json& document, const std::string& name) {
    const PublishedSchema published(name);
    valijson::Validator validator;
    valijson::ValidationResults results;
    const valijson::adapters::NlohmannJsonAdapter adapter(document);
    if (validator.validate(published.schema, adapter, &results)) return {};
    std::string text;
    valijson::ValidationResults::Error error;
    while (results.popError(error)) {
        for (const std::string& part : error.context) text += part;
        text += ": " + error.description + "\n";
    }
    return text.empty() ? "does not conform" : text;
}

}  // namespace ebb::test
