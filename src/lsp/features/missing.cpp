#include "lsp/features/missing.h"

#include <set>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "core/model/words.h"
#include "source/lint.h"

namespace ebb::lsp {

namespace {

/// Names that a misspelled one is compared with.
constexpr std::size_t kNamesMax = 1'000;

}  // namespace

std::vector<HandlerPlace> outside_calls(const Document& document) {
    std::vector<HandlerPlace> places = handler_places(document);
    std::set<std::string, std::less<>> known;
    for (const HandlerPlace& place : places) {
        if (place.role == HandlerPlace::Role::Entry) known.insert(place.name);
    }
    std::vector<HandlerPlace> calls;
    for (HandlerPlace& place : places) {
        const bool is_first =
            place.role == HandlerPlace::Role::Call && known.insert(place.name).second;
        if (is_first && !place.name.empty()) calls.push_back(std::move(place));
    }
    return calls;
}

std::vector<MissingHandler> missing_handlers(
    const Document& document, const CheckSettings& settings
) {
    std::vector<MissingHandler> missing;
    const WorkspaceIndex* index = settings.index;
    if (index == nullptr || !settings.is_index_whole) return missing;
    if (document.kind() != source::TextKind::Workflow) return missing;
    if (source::allowed_codes(document.text()).contains("missing_handler")) return missing;
    const bool has_code = index->has_registrations();
    std::vector<std::string> names = index->registered(kNamesMax);
    for (HandlerPlace& place : handler_places(document)) {
        if (place.role == HandlerPlace::Role::Entry) names.push_back(std::move(place.name));
    }
    const std::vector<std::string_view> known(names.begin(), names.end());
    const Definition& definition = document.checked(settings).definition;
    for (HandlerPlace& call : outside_calls(document)) {
        // What it calls of the types has become a part of the definition.
        const bool is_served =
            definition.handlers.contains(call.name) || !index->registrations(call.name, "").empty();
        if (is_served) continue;
        const std::string_view meant = model::closest(call.name, known);
        // Without code, any program may have the handler, unless its name looks misspelled.
        if (!has_code && meant.empty()) continue;
        missing.push_back(
            {.place = call,
             .message = fmt::format(
                 "{} {}{} `handlers:` does not have it.{}",
                 has_code ? "No code of the workspace registers the handler" : "The handler",
                 model::in_quotes(call.name),
                 has_code ? ", and" : " is misspelled, or another program has it:",
                 meant.empty() ? "" : fmt::format(" Did you mean {}?", model::in_quotes(meant))
             ),
             .meant = call.before.empty() ? std::string(meant) : std::string()}
        );
    }
    return missing;
}

}  // namespace ebb::lsp
