#include "cli/serve_config.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include <ebb/error.h>
#include <ebb/server.h>

#include "cli/payload_argument.h"
#include "support/json.h"
#include "yaml/yaml_document.h"

namespace ebb::cli {

namespace {

using model::Document;

constexpr std::size_t kConfigBytesMax = std::size_t{1} << 20;

[[noreturn]] void refuse(const std::string& place, const std::string& what) {
    throw ConfigError(place, what);
}

std::string place_of(const std::string& path, const model::Place& place) {
    return fmt::format("{}:{}:{}", path, place.line, place.column);
}

/// A map where the setting is a list of pairs, such as `links: [NAME=URL]`.
std::string pair_hint(const std::string& key, const Document& value) {
    constexpr std::size_t kShownMax = 64;
    if (!value.is_map() || value.members.empty()) return {};
    const Document::Member& first = value.members.front();
    if (!first.value.is_text()) return {};
    const std::string pair = fmt::format("{}={}", first.key, first.value.text());
    return fmt::format(
        " It is a map. If a list of pairs is meant, write {}: [\"{}\"].",
        key,
        clean_text(pair, kShownMax)
    );
}

std::string scalar_text(const std::string& path, const std::string& key, const Document& value) {
    if (value.is_text()) return value.text();
    if (value.type == Document::Type::Bool || value.type == Document::Type::Number) {
        return value.scalar.dump();
    }
    refuse(
        place_of(path, value.place),
        fmt::format(
            "The value of \"{}\" is not a text, a number, true or false, or a list of these.{}",
            key,
            pair_hint(key, value)
        )
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

ConfigEntry entry_of(
    const std::string& path, const Document::Member& member, const std::string& place
) {
    ConfigEntry entry{.key = member.key, .is_list = member.value.is_list(), .place = place};
    if (entry.is_list) {
        for (const Document& element : member.value.elements) {
            entry.values.push_back(scalar_text(path, entry.key, element));
        }
    } else {
        entry.values.push_back(scalar_text(path, entry.key, member.value));
    }
    return entry;
}

/// `webhooks: {NAME: {...}, ...}`
void add_declared(
    std::vector<Declared>& declared, const std::string& path, const Document::Member& section
) {
    if (!section.value.is_map()) {
        refuse(
            place_of(path, section.value.place),
            fmt::format("\"{}\" is a map of names and their settings.", section.key)
        );
    }
    std::set<std::string> names;
    for (const Document::Member& member : section.value.members) {
        const std::string place = place_of(path, member.place);
        if (!names.insert(member.key).second) {
            refuse(place, fmt::format("\"{}\" is there twice.", member.key));
        }
        if (!member.value.is_map()) {
            refuse(place, fmt::format("The settings of \"{}\" are a map.", member.key));
        }
        declared.push_back({section.key, member.key, member.value.to_json(), place});
    }
}

}  // namespace

Config read_config(const std::string& path) {
    const Document document = parse(path);
    if (document.type == Document::Type::Null) return {};
    if (!document.is_map()) refuse(place_of(path, document.place), "A map is expected here.");
    Config config;
    std::set<std::string> keys;
    for (const Document::Member& member : document.members) {
        const std::string place = place_of(path, member.place);
        if (!keys.insert(member.key).second) {
            refuse(place, fmt::format("\"{}\" is there twice.", member.key));
        }
        const auto& sections = Declared::kSections;
        if (std::find(sections.begin(), sections.end(), member.key) != sections.end()) {
            add_declared(config.declared, path, member);
        } else {
            config.entries.push_back(entry_of(path, member, place));
        }
    }
    return config;
}

}  // namespace ebb::cli
