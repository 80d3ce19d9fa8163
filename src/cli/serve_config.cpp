#include "cli/serve_config.h"

#include <algorithm>

#include <fmt/format.h>

#include <ebb/error.h>

#include "cli/payload_argument.h"
#include "yaml/yaml_document.h"

namespace ebb::cli {

namespace {

using model::Document;

constexpr std::size_t kConfigBytesMax = std::size_t{1} << 20;

[[noreturn]] void refuse(const std::string& place, const std::string& what) {
    throw Error(ErrorCode::InvalidArgument, fmt::format("{}: {}", place, what));
}

std::string place_of(const std::string& path, const model::Place& place) {
    return fmt::format("{}:{}:{}", path, place.line, place.column);
}

std::string scalar_text(const std::string& path, const std::string& key, const Document& value) {
    if (value.is_text()) return value.text();
    if (value.type == Document::Type::Bool || value.type == Document::Type::Number) {
        return value.scalar.dump();
    }
    refuse(
        place_of(path, value.place),
        fmt::format("The value of \"{}\" is not a text, a number, true or false.", key)
    );
}

Document parse(const std::string& path) {
    const std::string text = read_file(path, kConfigBytesMax);
    try {
        return yaml::parse_yaml_document(text, path);
    } catch (const DefinitionError& error) {
        const Diagnostic& first = error.diagnostics().front();
        // A file of comments alone sets nothing.
        if (first.code == "empty_document") return {};
        refuse(place_of(path, {first.line, first.column}), first.message);
    }
}

}  // namespace

std::vector<ConfigEntry> read_config(const std::string& path) {
    const Document document = parse(path);
    if (document.type == Document::Type::Null) return {};
    if (!document.is_map()) refuse(place_of(path, document.place), "A map is expected here.");
    std::vector<ConfigEntry> entries;
    for (const Document::Member& member : document.members) {
        ConfigEntry entry{
            .key = member.key,
            .is_list = member.value.is_list(),
            .place = place_of(path, member.place),
        };
        const bool is_twice = std::any_of(entries.begin(), entries.end(), [&](const auto& other) {
            return other.key == entry.key;
        });
        if (is_twice) refuse(entry.place, fmt::format("\"{}\" is there twice.", entry.key));
        if (entry.is_list) {
            for (const Document& element : member.value.elements) {
                entry.values.push_back(scalar_text(path, entry.key, element));
            }
        } else {
            entry.values.push_back(scalar_text(path, entry.key, member.value));
        }
        entries.push_back(std::move(entry));
    }
    return entries;
}

}  // namespace ebb::cli
