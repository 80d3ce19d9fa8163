#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <ebb/definition.h>

// Node types that many workflows share: handlers with their schemas, defaults and retry policies,
// in a separate file. See docs/how-to/graphs.md.
//
//     types:
//       fetch:
//         http: {url: "https://example.com/${ input.id }"}
//         input_schema: {type: object, required: [id]}
//         retry: {max_attempts: 5, backoff: {strategy: fixed, initial: 2s}}

namespace ebb {

namespace model {

struct TypeLibraryData;

}  // namespace model

/// The types of some files. A value; immutable but for `add`.
class TypeLibrary {
 public:
    TypeLibrary();

    /// Adds the types of a JSON text. Throws DefinitionError with all problems, including types
    /// that already exist; then nothing was added. The handler entry of a type is checked where it
    /// is used.
    void add_json(std::string_view text, const std::string& file = {});

    /// Sorted.
    std::vector<std::string> names() const;

    bool is_empty() const { return names().empty(); }

    /// The handler entries of all types.
    HandlerSpecs specs() const;

    const model::TypeLibraryData& data() const { return *data_; }

    model::TypeLibraryData& data();

 private:
    std::shared_ptr<model::TypeLibraryData> data_;
};

/// As definition_from_json: a step that calls a type which the definition does not describe itself
/// calls that of `types`, which becomes part of the definition.
Definition definition_from_json(const Json& json, const TypeLibrary& types);

/// As parse_definition_json.
Definition parse_definition_json(std::string_view text, const TypeLibrary& types);

}  // namespace ebb
