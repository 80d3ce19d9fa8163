#include "lsp/features/handlers.h"

#include <algorithm>
#include <utility>

#include <nlohmann/json.hpp>

namespace ebb::lsp {

namespace {

using Role = HandlerPlace::Role;

constexpr std::size_t kLocationsMax = 1'000;

Json location_json(const Document& document, const HandlerPlace& place) {
    return {
        {"uri", document.uri()}, {"range", range_json(document.lines(), place.begin, place.end)}
    };
}

Json location_json(const WorkspaceIndex::Place& place) {
    return {
        {"uri", place.uri},
        {"range", {{"start", to_json(place.begin)}, {"end", to_json(place.end)}}}
    };
}

}  // namespace

std::optional<HandlerPlace> handler_at(const Document& document, std::size_t offset) {
    for (HandlerPlace& place : handler_places(document)) {
        if (place.begin <= offset && offset <= place.end) return std::move(place);
    }
    return std::nullopt;
}

Json registrations_json(
    const Document& document, const WorkspaceIndex& index, const std::string& name
) {
    Json list = Json::array();
    if (document.is_cpp()) {
        for (const HandlerPlace& place : handler_places(document)) {
            const bool is_here = place.role == Role::Registration && place.name == name;
            if (is_here) list.push_back(location_json(document, place));
        }
    }
    for (const WorkspaceIndex::Place& place : index.registrations(name, document.uri())) {
        if (list.size() < kLocationsMax) list.push_back(location_json(place));
    }
    return list;
}

void add_references(
    const Document& document, const WorkspaceIndex& index, const ReferenceQuery& query, Json& list
) {
    bool has_entry = false;
    for (const HandlerPlace& place : handler_places(document)) {
        if (place.name != query.name) continue;
        has_entry = has_entry || place.role == Role::Entry;
        const bool is_wanted = query.with_declaration || place.role == Role::Call;
        if (document.is_cpp() && is_wanted) list.push_back(location_json(document, place));
    }
    for (const WorkspaceIndex::Place& place : index.find(query.name, document.uri())) {
        const bool is_wanted = query.with_declaration || place.role == Role::Call;
        // An entry of `handlers:` is for its own file, so no other workflow calls it.
        const bool is_ours = !has_entry || place.role == Role::Registration;
        if (is_wanted && is_ours && list.size() < kLocationsMax) {
            list.push_back(location_json(place));
        }
    }
}

}  // namespace ebb::lsp
