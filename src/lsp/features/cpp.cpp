#include "lsp/features/cpp.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/diagram/notes.h"
#include "core/model/walk.h"
#include "lsp/features/node_text.h"
#include "lsp/features/picture.h"
#include "lsp/features/request.h"
#include "lsp/features/symbols.h"
#include "lsp/lsp.h"

namespace ebb::lsp {

namespace {

using source::CppFile;
using source::CppHandler;
using source::CppPlace;
using source::CppWorkflow;

/// The call that adds the node, and those that say more of it.
CppPlace place_of_node(const CppWorkflow& workflow, const std::string& path) {
    CppPlace place = workflow.place_of(path);
    const std::string prefix = path + "/";
    for (auto said = workflow.places.lower_bound(prefix);
         said != workflow.places.end() && said->first.starts_with(prefix);
         ++said) {
        const bool is_own = said->first.find('/', prefix.size()) == std::string::npos;
        if (is_own && said->second.begin >= place.begin) {
            place.end = std::max(place.end, said->second.end);
        }
    }
    return place;
}

class Outline {
 public:
    explicit Outline(const Document& document) : document_(document) {}

    Json run() {
        Json symbols = Json::array();
        for (const CppWorkflow& workflow : document_.cpp().workflows) {
            Json children = Json::array();
            add_block(workflow, workflow.definition.steps, "/steps", children);
            CppPlace whole = workflow.place;
            for (std::size_t i = 0; i < workflow.definition.steps.size(); ++i) {
                const CppPlace node = place_of_node(workflow, fmt::format("/steps/{}", i));
                if (node.begin >= whole.begin) whole.end = std::max(whole.end, node.end);
            }
            Json entry = symbol(workflow.definition.name, SymbolKind::Module, whole);
            entry["selectionRange"] = range(workflow.place);
            entry["detail"] = workflow.is_exact() ? "workflow" : "workflow, known in part";
            entry["children"] = std::move(children);
            symbols.push_back(std::move(entry));
        }
        for (const CppHandler& handler : document_.cpp().handlers) {
            if (count_ >= DocumentLimits::kSymbolsMax) break;
            Json entry = symbol(handler.name, SymbolKind::Method, handler.place);
            entry["detail"] = "handler";
            symbols.push_back(std::move(entry));
        }
        return symbols;
    }

 private:
    const Document& document_;
    std::size_t count_ = 0;

    Json range(const CppPlace& place) const {
        return range_json(document_.lines(), place.begin, place.end);
    }

    Json symbol(const std::string& name, SymbolKind kind, const CppPlace& place) {
        ++count_;
        return {
            {"name", name.empty() ? "?" : name},
            {"kind", static_cast<int>(kind)},
            {"range", range(place)},
            {"selectionRange", range(place)},
        };
    }

    void add_block(
        const CppWorkflow& workflow, const Block& block, const std::string& path, Json& into
    ) {
        for (std::size_t i = 0; i < block.size(); ++i) {
            if (count_ >= DocumentLimits::kSymbolsMax) return;
            const Node& node = block[i];
            const std::string at = fmt::format("{}/{}", path, i);
            const std::string kind(kind_name(node));
            Json entry = symbol(node.name, symbol_of(kind), place_of_node(workflow, at));
            entry["selectionRange"] = range(workflow.place_of(at));
            const auto frame = workflow.frames.find(at);
            entry["detail"] =
                frame == workflow.frames.end() ? kind : fmt::format("{}, {}", kind, frame->second);
            Json children = Json::array();
            model::visit_blocks(node, [&](const Block& inner, const std::string& relative) {
                add_block(workflow, inner, at + relative, children);
            });
            if (!children.empty()) entry["children"] = std::move(children);
            into.push_back(std::move(entry));
        }
    }
};

}  // namespace

const CppWorkflow& wanted_workflow(const Document& document, const Json& params) {
    const std::vector<CppWorkflow>& all = document.cpp().workflows;
    const std::string name = params.value("workflow", std::string());
    if (!name.empty()) {
        for (const CppWorkflow& workflow : all) {
            if (workflow.definition.name == name) return workflow;
        }
        throw Error(ErrorCode::InvalidArgument, "This file builds no workflow of this name.");
    }
    if (all.empty()) {
        const std::string_view why =
            document.cpp().has_rules ? source::kRulesAreNotRead : "This file builds no workflow.";
        throw Error(ErrorCode::InvalidArgument, std::string(why));
    }
    if (!params.contains("position")) return all.front();
    // A workflow reaches to the next one.
    const std::size_t offset = offset_in(document, params);
    const CppWorkflow* wanted = &all.front();
    for (const CppWorkflow& workflow : all) {
        if (workflow.place.begin <= offset) wanted = &workflow;
    }
    return *wanted;
}

Json cpp_symbols_json(const Document& document) {
    return Outline(document).run();
}

Json cpp_hover_json(const Document& document, std::size_t offset) {
    const Node* found = nullptr;
    CppPlace place;
    for (const CppWorkflow& workflow : document.cpp().workflows) {
        const model::Walk walk(workflow.definition);
        for (const model::Placed& placed : walk.nodes()) {
            const CppPlace here = place_of_node(workflow, placed.path);
            if (offset < here.begin || offset > here.end) continue;
            // The innermost one.
            if (found != nullptr && here.end - here.begin > place.end - place.begin) continue;
            found = placed.node;
            place = here;
        }
    }
    if (found == nullptr) return nullptr;
    const auto no_origin = [](const char*) { return std::string(); };
    return {
        {"contents", {{"kind", "markdown"}, {"value", fenced(node_text(*found, no_origin, ""))}}},
        {"range", range_json(document.lines(), place.begin, place.end)}
    };
}

Json cpp_diagram_json(const Document& document, const Json& params, const DiagramOptions& options) {
    const CppWorkflow& workflow = wanted_workflow(document, params);
    Json nodes = Json::array();
    const model::Walk walk(workflow.definition);
    for (const model::Placed& placed : walk.nodes()) {
        const CppPlace place = place_of_node(workflow, placed.path);
        nodes.push_back(
            {{"path", placed.path},
             {"name", placed.node->name},
             {"range", range_json(document.lines(), place.begin, place.end)}}
        );
    }
    Json names = Json::array();
    for (const CppWorkflow& one : document.cpp().workflows) names.push_back(one.definition.name);
    Json answer = {
        {"nodes", std::move(nodes)},
        {"version", document.version},
        {"problems", source::check_cpp(workflow, document.text(), document.uri()).size()},
        {"workflow", workflow.definition.name},
        {"workflows", std::move(names)},
        {"exact", workflow.is_exact()},
    };
    add_picture(
        answer,
        params,
        {.definition = workflow.definition, .options = options, .notes = source::notes_of(workflow)}
    );
    return answer;
}

}  // namespace ebb::lsp
