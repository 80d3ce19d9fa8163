#pragma once

#include <map>
#include <string>

#include <ebb/type_library.h>

#include "core/model/document.h"
#include "core/model/reader.h"

namespace ebb::model {

/// One handler entry, of a library or of a definition.
struct TypeEntry {
    Payload spec;    ///< without `retry`
    Document retry;  ///< a map; of type Null: there is none
};

struct TypeLibraryData {
    std::map<std::string, TypeEntry> types;
};

/// The key of a handler entry that says how its steps are tried.
inline constexpr std::string_view kRetryKey = "retry";

/// Takes an entry apart.
TypeEntry split_entry(const Document& entry);

/// What the entry says of attempts, notes what is wrong with it.
AttemptPolicy read_retry(
    Problems& problems,
    const TypeEntry& entry,
    const std::string& path,
    const AttemptPolicy& otherwise
);

/// Adds the types of a document to `library`. Throws DefinitionError.
void add_types(TypeLibraryData& library, const Document& root, const std::string& file);

/// Gives `definition` the entries of the types that its steps call and that it does not describe.
void take_types(Definition& definition, const TypeLibraryData& library);

}  // namespace ebb::model
