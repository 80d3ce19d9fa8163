#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include <ebb/definition.h>
#include <ebb/type_library.h>

// Workflows as YAML 1.2 (core schema): docs/reference/definition.md. Component ebb::yaml.

namespace ebb {

/// Reads a definition and validates it. Throws DefinitionError with all problems, each with its
/// line and column and with `file_name` (which is only named, never opened). Accepts one document,
/// a limited number of aliases, and no duplicate keys.
Definition parse_definition_yaml(std::string_view text, std::string_view file_name = {});

/// The same, with the types that its steps may call (<ebb/type_library.h>).
Definition parse_definition_yaml(
    std::string_view text, std::string_view file_name, const TypeLibrary& types
);

/// As TypeLibrary::add_json.
void add_types_yaml(TypeLibrary& types, std::string_view text, const std::string& file = {});

/// The YAML form for people: block style, keys in their usual order, without defaults.
/// `parse_definition_yaml(definition_to_yaml(d)) == d` for a valid definition.
std::string definition_to_yaml(const Definition& definition);

/// Reads a file as YAML (`.yaml`, `.yml`) or JSON (`.json`). Throws DefinitionError, or Error with
/// InvalidArgument when the file cannot be read or has another extension.
Definition load_definition(const std::filesystem::path& path, const TypeLibrary& types = {});
/// The types of a file. Throws as load_definition.
TypeLibrary load_types(const std::filesystem::path& path);

}  // namespace ebb
