#include "lsp/workspace_index.h"

#include <algorithm>
#include <utility>

#include "lsp/features/names.h"
#include "lsp/features/request.h"
#include "lsp/uri.h"

namespace ebb::lsp {

namespace {

using Role = HandlerPlace::Role;

HandlerPlace place_of(const source::CppHandler& handler, std::string_view text, Role role) {
    HandlerPlace place{
        .name = handler.name, .begin = handler.place.begin, .end = handler.place.end, .role = role
    };
    const std::string_view written = text.substr(place.begin, place.end - place.begin);
    const bool is_literal = written.size() >= 2 && written.front() == '"' &&
                            written.back() == '"' &&
                            written.substr(1, written.size() - 2) == handler.name;
    if (is_literal) {
        ++place.begin;
        --place.end;
    }
    place.is_fixed = !is_literal;
    return place;
}

std::vector<HandlerPlace> places_in_cpp(const Document& document) {
    std::vector<HandlerPlace> places;
    for (const source::CppHandler& handler : document.cpp().handlers) {
        places.push_back(place_of(handler, document.text(), Role::Registration));
    }
    for (const source::CppWorkflow& workflow : document.cpp().workflows) {
        for (const source::CppHandler& call : source::called_handlers(workflow)) {
            places.push_back(place_of(call, document.text(), Role::Call));
        }
    }
    std::stable_sort(
        places.begin(),
        places.end(),
        [](const HandlerPlace& a, const HandlerPlace& b) {
            return std::pair(a.begin, a.end) < std::pair(b.begin, b.end);
        }
    );
    // A function that is called twice adds its steps twice.
    places.erase(std::unique(places.begin(), places.end()), places.end());
    return places;
}

/// The name of a step that calls the handler of this name.
void keep_step_name(const Document& document, const NamePlace& name, HandlerPlace& place) {
    // No name has this character.
    const std::string both = step_with_handler(document, name, name.name, "\n\n");
    const std::size_t at = both.rfind("\n\n");
    place.is_fixed = at == std::string::npos;
    if (place.is_fixed) return;
    place.before = both.substr(0, at);
    place.after = both.substr(at + 2);
}

}  // namespace

std::vector<HandlerPlace> handler_places(const Document& document) {
    if (document.is_cpp()) return places_in_cpp(document);
    std::vector<HandlerPlace> places;
    if (document.kind() != source::TextKind::Workflow) return places;
    std::size_t step = std::string::npos;
    for (const NamePlace& name : names_of(document.tree())) {
        if (name.kind == NameKind::Node && name.is_declaration) step = name.begin;
        if (name.kind != NameKind::Handler) continue;
        places.push_back(
            {.name = name.name,
             .begin = name.begin,
             .end = name.end,
             .role = name.is_declaration ? Role::Entry : Role::Call}
        );
        if (step == name.begin) keep_step_name(document, name, places.back());
    }
    return places;
}

void WorkspaceIndex::set(const Document& document) {
    const std::string uri = canonical_uri(document.uri());
    remove(uri);
    set_symbols(uri, document);
    set_words(uri, document);
    for (HandlerPlace& place : handler_places(document)) {
        if (is_full()) return;
        ++count_;
        files_[place.name][uri].push_back(
            {.uri = document.uri(),
             .begin = document.lines().position(place.begin),
             .end = document.lines().position(place.end),
             .role = place.role,
             .before = std::move(place.before),
             .after = std::move(place.after),
             .is_fixed = place.is_fixed}
        );
        if (place.role == Role::Registration) count_registration(place.name, 1);
        names_[uri].insert(std::move(place.name));
    }
}

void WorkspaceIndex::set_symbols(const std::string& uri, const Document& document) {
    for (DeclaredSymbol& declared : declared_symbols(document)) {
        if (symbol_count_ >= WorkspaceLimits::kNamesMax) return;
        ++symbol_count_;
        symbols_[uri].push_back(
            {.name = std::move(declared.name),
             .kind = declared.kind,
             .workflow = std::move(declared.workflow),
             .begin = document.lines().position(declared.begin),
             .end = document.lines().position(declared.end)}
        );
    }
}

void WorkspaceIndex::set_words(const std::string& uri, const Document& document) {
    for (SharedWord& word : shared_words(document)) {
        if (word_count_ >= WorkspaceLimits::kNamesMax) return;
        if (words_[uri].emplace(word.kind, std::move(word.text)).second) ++word_count_;
    }
}

void WorkspaceIndex::remove(const std::string& uri) {
    if (const auto words = words_.find(canonical_uri(uri)); words != words_.end()) {
        word_count_ -= words->second.size();
        words_.erase(words);
    }
    if (const auto declared = symbols_.find(canonical_uri(uri)); declared != symbols_.end()) {
        symbol_count_ -= declared->second.size();
        symbols_.erase(declared);
    }
    const auto known = names_.find(canonical_uri(uri));
    if (known == names_.end()) return;
    for (const std::string& name : known->second) {
        const auto files = files_.find(name);
        const auto places = files->second.find(known->first);
        count_ -= places->second.size();
        for (const Place& place : places->second) {
            if (place.role == Role::Registration) count_registration(name, -1);
        }
        files->second.erase(places);
        if (files->second.empty()) files_.erase(files);
    }
    names_.erase(known);
}

void WorkspaceIndex::clear() {
    files_.clear();
    names_.clear();
    registrations_.clear();
    count_ = 0;
    symbols_.clear();
    symbol_count_ = 0;
    words_.clear();
    word_count_ = 0;
    ++revision_;
}

void WorkspaceIndex::count_registration(const std::string& name, int change) {
    std::size_t& count = registrations_[name];
    if (count == 0 || (count == 1 && change < 0)) ++revision_;
    count = change > 0 ? count + 1 : count - 1;
    if (count == 0) registrations_.erase(name);
}

std::vector<WorkspaceIndex::Place> WorkspaceIndex::find(
    std::string_view name, const std::string& own
) const {
    std::vector<Place> found;
    const auto files = files_.find(name);
    if (files == files_.end()) return found;
    const std::string skipped = canonical_uri(own);
    for (const auto& [uri, places] : files->second) {
        if (uri != skipped) found.insert(found.end(), places.begin(), places.end());
    }
    return found;
}

std::vector<WorkspaceIndex::Place> WorkspaceIndex::registrations(
    std::string_view name, const std::string& own
) const {
    std::vector<Place> found = find(name, own);
    std::erase_if(found, [](const Place& place) { return place.role != Role::Registration; });
    return found;
}

std::vector<std::string> WorkspaceIndex::words(
    WordKind kind, const std::string& own, std::size_t max
) const {
    const std::string skipped = canonical_uri(own);
    std::set<std::string> found;
    for (const auto& [uri, words] : words_) {
        if (uri == skipped) continue;
        for (auto word = words.lower_bound({kind, ""});
             word != words.end() && word->first == kind && found.size() < max;
             ++word) {
            found.insert(word->second);
        }
    }
    return {found.begin(), found.end()};
}

std::vector<std::string> WorkspaceIndex::registered(std::size_t max) const {
    std::vector<std::string> names;
    for (const auto& [name, count] : registrations_) {
        if (names.size() >= max) break;
        names.push_back(name);
    }
    return names;
}

}  // namespace ebb::lsp
