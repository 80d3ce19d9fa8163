// Workspace symbols: workflows, nodes and handlers of all files, in YAML, JSON and C++.

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "core/model/walk.h"
#include "lsp/features/names.h"
#include "lsp/features/symbols.h"
#include "lsp/lsp.h"
#include "lsp/workspace_index.h"

namespace ebb::lsp {

namespace {

constexpr std::size_t kSymbolsMax = 1'000;
constexpr std::size_t kQueryBytesMax = 256;

std::vector<DeclaredSymbol> symbols_in_cpp(const Document& document) {
    std::vector<DeclaredSymbol> symbols;
    for (const source::CppWorkflow& workflow : document.cpp().workflows) {
        const std::string& name = workflow.definition.name;
        symbols.push_back({.name = name, .begin = workflow.place.begin, .end = workflow.place.end});
        const model::Walk walk(workflow.definition);
        for (const model::Placed& placed : walk.nodes()) {
            const source::CppPlace place = workflow.place_of(placed.path);
            symbols.push_back(
                {.name = placed.node->name,
                 .kind = symbol_of(kind_name(*placed.node)),
                 .workflow = name,
                 .begin = place.begin,
                 .end = place.end}
            );
        }
    }
    for (const source::CppHandler& handler : document.cpp().handlers) {
        symbols.push_back(
            {.name = handler.name,
             .kind = SymbolKind::Method,
             .begin = handler.place.begin,
             .end = handler.place.end}
        );
    }
    return symbols;
}

char small(char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

bool starts_with(std::string_view text, std::string_view query) {
    return text.size() >= query.size() &&
           std::equal(query.begin(), query.end(), text.begin(), [](char a, char b) {
               return small(a) == small(b);
           });
}

/// How well a name fits what a person has typed: the smaller, the better; -1 = not at all. The
/// letters may have others between them.
int rank_of(std::string_view name, std::string_view query) {
    if (starts_with(name, query)) return name.size() == query.size() ? 0 : 1;
    for (std::size_t at = 1; at < name.size(); ++at) {
        if (starts_with(name.substr(at), query)) return 2;
    }
    std::size_t met = 0;
    for (const char c : name) {
        if (met < query.size() && small(c) == small(query[met])) ++met;
    }
    return met == query.size() ? 3 : -1;
}

}  // namespace

std::vector<DeclaredSymbol> declared_symbols(const Document& document) {
    if (document.is_cpp()) return symbols_in_cpp(document);
    std::vector<DeclaredSymbol> symbols;
    if (document.kind() != source::TextKind::Workflow) return symbols;
    const yaml::LineTree& tree = document.tree();
    const int head = tree.find(0, "workflow");
    const std::string workflow = head < 0 ? std::string() : tree.scalar(head);
    if (!workflow.empty()) {
        const yaml::TreeRange& place = tree.at(head).value;
        symbols.push_back({.name = workflow, .begin = place.begin, .end = place.end});
    }
    for (const NamePlace& place : names_of(tree)) {
        const bool is_node = place.kind == NameKind::Node;
        const bool is_symbol = is_node || place.kind == NameKind::Handler;
        if (!place.is_declaration || place.name.empty() || !is_symbol) continue;
        SymbolKind kind = SymbolKind::Method;
        if (is_node) {
            const std::string_view node = kind_of_node(tree, tree.at(place.node).parent);
            kind = symbol_of(node.empty() ? "step" : node);
        }
        symbols.push_back(
            {.name = place.name,
             .kind = kind,
             .workflow = workflow,
             .begin = place.begin,
             .end = place.end}
        );
    }
    return symbols;
}

Json Server::find_symbols(const Json& params) {
    index_open_documents();
    const std::string query = params.at("query").get<std::string>().substr(0, kQueryBytesMax);

    struct Found {
        int rank = 0;
        const std::string* uri = nullptr;
        const WorkspaceIndex::Symbol* symbol = nullptr;
    };

    std::vector<Found> found;
    for (const auto& [uri, symbols] : index_.symbols()) {
        for (const WorkspaceIndex::Symbol& symbol : symbols) {
            const int rank = rank_of(symbol.name, query);
            if (rank >= 0) found.push_back({.rank = rank, .uri = &uri, .symbol = &symbol});
        }
    }
    std::stable_sort(found.begin(), found.end(), [](const Found& a, const Found& b) {
        return a.rank < b.rank;
    });
    if (found.size() > kSymbolsMax) found.resize(kSymbolsMax);
    Json list = Json::array();
    for (const Found& each : found) {
        const WorkspaceIndex::Symbol& symbol = *each.symbol;
        Json json = {
            {"name", symbol.name},
            {"kind", static_cast<int>(symbol.kind)},
            {"location",
             {{"uri", *each.uri},
              {"range", {{"start", to_json(symbol.begin)}, {"end", to_json(symbol.end)}}}}},
        };
        if (!symbol.workflow.empty()) json["containerName"] = symbol.workflow;
        list.push_back(std::move(json));
    }
    return list;
}

}  // namespace ebb::lsp
