// Definition, references, highlights and rename: all from the names of the text.

#include <algorithm>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/model/check.h"
#include "core/model/words.h"
#include "lsp/features/conditions.h"
#include "lsp/features/handlers.h"
#include "lsp/features/names.h"
#include "lsp/features/request.h"
#include "lsp/lsp.h"

namespace ebb::lsp {

namespace {

/// The places that say the name under the cursor. A step's short form is a node and a handler at
/// once: there the node is meant.
std::vector<NamePlace> places_at(const Document& document, std::size_t offset) {
    const std::vector<NamePlace> all = names_of(document.tree());
    const auto here = std::find_if(all.begin(), all.end(), [offset](const NamePlace& place) {
        return place.begin <= offset && offset <= place.end;
    });
    std::vector<NamePlace> same;
    if (here == all.end()) return same;
    const auto is_same = [here](const NamePlace& place) {
        return place.kind == here->kind && place.name == here->name;
    };
    std::copy_if(all.begin(), all.end(), std::back_inserter(same), is_same);
    // The one under the cursor first.
    std::stable_partition(same.begin(), same.end(), [here](const NamePlace& place) {
        return place.begin == here->begin;
    });
    return same;
}

/// Of several nodes with one name, what reads the name means the first. A later one, such as a copy
/// that is to get its own name, is changed alone; the others stay when the first is.
void keep_one_node(std::vector<NamePlace>& places) {
    std::size_t first = std::string::npos;
    for (const NamePlace& place : places) {
        if (place.is_declaration) first = std::min(first, place.begin);
    }
    if (places.front().is_declaration && places.front().begin != first) {
        places.resize(1);
        return;
    }
    std::erase_if(places, [first](const NamePlace& place) {
        return place.is_declaration && place.begin != first;
    });
}

Json location_json(const Document& document, const NamePlace& place) {
    return {
        {"uri", document.uri()}, {"range", range_json(document.lines(), place.begin, place.end)}
    };
}

/// Within the document; null if there is none.
Json definition_in(const Document& document, std::size_t offset) {
    const std::vector<NamePlace> places = places_at(document, offset);
    if (places.empty()) return nullptr;
    // A step that declares itself leads to the entry of its handler.
    if (places.front().is_declaration && places.front().kind == NameKind::Node) {
        const std::string& name = places.front().name;
        for (const NamePlace& place : names_of(document.tree())) {
            if (place.kind == NameKind::Handler && place.is_declaration && place.name == name) {
                return location_json(document, place);
            }
        }
    }
    const auto declaration = std::find_if(places.begin(), places.end(), [](const NamePlace& p) {
        return p.is_declaration;
    });
    return declaration == places.end() ? Json(nullptr) : location_json(document, *declaration);
}

/// May it stand in YAML, JSON and C++ without quotes or escapes of its own?
bool is_plain_name(const std::string& name) {
    const bool is_plain = std::all_of(name.begin(), name.end(), [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               c == '_' || c == '-' || c == '.' || c == '/';
    });
    return is_plain && !name.empty() && name.front() != '-' && name.front() != '.';
}

/// As the checks have it, of a node or a branch.
std::string fault_of_name(const NamePlace& place, const std::string& name) {
    if (place.kind == NameKind::Anchor) {
        return is_plain_name(name) ? std::string()
                                   : "The name of an anchor has letters, digits, _, -, . and /.";
    }
    if (place.kind == NameKind::Attribute) {
        const bool is_right =
            !name.empty() && name.size() <= RulesLimits::kAttributeNameBytesMax &&
            name.front() >= 'a' && name.front() <= 'z' &&
            std::all_of(name.begin(), name.end(), [](char c) {
                return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
            });
        if (!is_right) {
            return "The name of an attribute has lower-case letters, digits and _, with a letter "
                   "first.";
        }
        if (!is_reserved_in_conditions(name)) return {};
        return fmt::format("{} is a word of conditions.", model::in_quotes(name));
    }
    model::Findings findings;
    model::check_name(findings, "", place.kind == NameKind::Node ? "node" : "branch", name);
    return findings.is_empty() ? std::string() : findings.all().front().diagnostic.message;
}

/// What a rename changes, by file. Throws when a place cannot be changed.
class HandlerEdits {
 public:
    explicit HandlerEdits(const std::string& name) : name_(name) {}

    template <typename Place>
    void add(const std::string& uri, const Place& place, Json range) {
        if (place.is_fixed) {
            throw Error(
                ErrorCode::InvalidArgument,
                fmt::format(
                    "{}:{} names the handler in a way that a rename cannot change, such as a "
                    "constant: change it there by hand.",
                    uri.substr(uri.rfind('/') + 1),
                    range["start"]["line"].template get<std::size_t>() + 1
                )
            );
        }
        changes_[uri].push_back(
            {{"range", std::move(range)}, {"newText", place.before + name_ + place.after}}
        );
    }

    Json take() { return {{"changes", std::move(changes_)}}; }

 private:
    const std::string& name_;
    Json changes_ = Json::object();
};

Json changes_json(const Document& document, Json edits) {
    return {{"changes", {{document.uri(), std::move(edits)}}}};
}

/// A new name of a node or an attribute is a change of the workflow. The client shows what that
/// means before the change is made.
Json annotated_json(const Document& document, const NamePlace& renamed, Json edits) {
    constexpr const char* kId = "version";
    for (Json& edit : edits) edit["annotationId"] = kId;
    const Json identifier = {{"uri", document.uri()}, {"version", document.version}};
    const bool is_node = renamed.kind == NameKind::Node;
    const Json annotation = {
        {"label", is_node ? "Rename a node" : "Rename an attribute"},
        {"description",
         is_node ? "Instances that have started keep the old version: give the workflow a new one."
                 : fmt::format(
                       "Instances that follow to the new version keep the value only if the "
                       "attribute says renamed_from: {}.",
                       renamed.name
                   )},
        {"needsConfirmation", false}
    };
    Json changed = {{"textDocument", identifier}, {"edits", std::move(edits)}};
    return {
        {"documentChanges", Json::array({std::move(changed)})},
        {"changeAnnotations", {{kId, annotation}}}
    };
}

/// The name as it must be written at the place: quoted or in brackets where the language needs it.
bool can_be_written(const Document& document, const NamePlace& place, const std::string& name) {
    const bool is_plain_word = std::all_of(name.begin(), name.end(), [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               c == '_';
    });
    if (is_plain_word) return true;
    const char before = place.begin > 0 ? document.text()[place.begin - 1] : ' ';
    // `steps.NAME` takes only a word; in quotes, in backticks and outside of expressions all fit.
    return before != '.';
}

}  // namespace

Json Server::find_definition(const Json& params) {
    const Document* document = either_document_of(params);
    if (document == nullptr) return nullptr;
    index_open_code();
    const std::size_t offset = offset_in(*document, params);
    Json here = document->is_cpp() ? Json(nullptr) : definition_in(*document, offset);
    const auto handler = handler_at(*document, offset);
    if (!handler) return here;
    Json found = registrations_json(*document, index_, handler->name);
    // The name under the cursor leads on to the code that registers it.
    const Json range = range_json(document->lines(), handler->begin, handler->end);
    const bool is_elsewhere = !here.is_null() && here["range"] != range;
    if (found.empty()) return here;
    if (is_elsewhere) found.insert(found.begin(), std::move(here));
    return found.size() == 1 ? found.front() : found;
}

Json Server::find_references(const Json& params) {
    const Document* document = either_document_of(params);
    if (document == nullptr) return Json::array();
    index_open_documents();
    const bool with_declaration =
        !params.contains("context") || params["context"].value("includeDeclaration", true);
    const std::size_t offset = offset_in(*document, params);
    Json list = Json::array();
    if (!document->is_cpp()) {
        for (const NamePlace& place : places_at(*document, offset)) {
            if (place.is_declaration && !with_declaration) continue;
            list.push_back(location_json(*document, place));
        }
    }
    if (const auto handler = handler_at(*document, offset)) {
        add_references(*document, index_, {handler->name, with_declaration}, list);
    }
    return list;
}

Json Server::highlight(const Json& params) {
    const Document* document = document_of(params);
    if (document == nullptr) return Json::array();
    Json list = Json::array();
    for (const NamePlace& place : places_at(*document, offset_in(*document, params))) {
        list.push_back(
            {{"range", range_json(document->lines(), place.begin, place.end)},
             {"kind", place.is_declaration ? 3 : 2}}
        );
    }
    return list;
}

Json Server::prepare_rename(const Json& params) {
    const Document* document = either_document_of(params);
    if (document == nullptr) return nullptr;
    if (document->is_cpp()) {
        const auto handler = handler_at(*document, offset_in(*document, params));
        if (!handler || handler->is_fixed) return nullptr;
        return {
            {"range", range_json(document->lines(), handler->begin, handler->end)},
            {"placeholder", handler->name}
        };
    }
    const std::vector<NamePlace> places = places_at(*document, offset_in(*document, params));
    if (places.empty()) return nullptr;
    const NamePlace& here = places.front();
    return {
        {"range", range_json(document->lines(), here.begin, here.end)}, {"placeholder", here.name}
    };
}

/// In all files of the workspace, unless `handlers:` of the file has it: then it is its own.
Json Server::rename_handler(
    const Document& document, const std::string& old_name, const std::string& name
) {
    using Role = HandlerPlace::Role;
    index_open_documents();
    model::Findings findings;
    model::check_outside_name(findings, "", "handler", name);
    if (!findings.is_empty() || !is_plain_name(name)) {
        throw Error(
            ErrorCode::InvalidArgument,
            findings.is_empty()
                ? "A rename gives a handler a name of letters, digits, _, -, . and /."
                : findings.all().front().diagnostic.message
        );
    }
    const std::vector<HandlerPlace> own = handler_places(document);
    const auto is_entry = [](const auto& place) { return place.role == Role::Entry; };
    const bool has_entry = std::any_of(own.begin(), own.end(), [&](const HandlerPlace& place) {
        return is_entry(place) && place.name == old_name;
    });
    const bool is_taken = std::any_of(
                              own.begin(),
                              own.end(),
                              [&](const HandlerPlace& place) {
                                  return place.name == name && place.role != Role::Call;
                              }
                          ) ||
                          (!has_entry && !index_.registrations(name, "").empty());
    if (is_taken) {
        throw Error(
            ErrorCode::InvalidArgument,
            fmt::format("The name {} is already taken.", model::in_quotes(name))
        );
    }
    HandlerEdits edits(name);
    for (const HandlerPlace& place : own) {
        if (place.name != old_name) continue;
        edits.add(document.uri(), place, range_json(document.lines(), place.begin, place.end));
    }
    if (has_entry) return edits.take();
    const auto others = index_.find(old_name, document.uri());
    std::set<std::string> with_entry;
    for (const WorkspaceIndex::Place& place : others) {
        if (is_entry(place)) with_entry.insert(place.uri);
    }
    for (const WorkspaceIndex::Place& place : others) {
        if (with_entry.contains(place.uri)) continue;
        edits.add(place.uri, place, {{"start", to_json(place.begin)}, {"end", to_json(place.end)}});
    }
    return edits.take();
}

Json Server::rename(const Json& params) {
    const Document* document = either_document_of(params);
    if (document == nullptr) return nullptr;
    const std::string name = params.at("newName").get<std::string>();
    const std::size_t offset = offset_in(*document, params);
    if (document->is_cpp()) {
        if (const auto handler = handler_at(*document, offset)) {
            return rename_handler(*document, handler->name, name);
        }
        throw Error(ErrorCode::InvalidArgument, "Only handlers are renamed in C++ code.");
    }
    std::vector<NamePlace> places = places_at(*document, offset);
    if (places.empty()) {
        throw Error(ErrorCode::InvalidArgument, "There is no name here that could be changed.");
    }
    if (places.front().kind == NameKind::Node) keep_one_node(places);
    const NamePlace& here = places.front();
    if (here.kind == NameKind::Handler) return rename_handler(*document, here.name, name);
    if (const std::string fault = fault_of_name(here, name); !fault.empty()) {
        throw Error(ErrorCode::InvalidArgument, fault);
    }
    const std::vector<NamePlace> all = names_of(document->tree());
    const bool is_taken = std::any_of(all.begin(), all.end(), [&](const NamePlace& place) {
        return place.kind == here.kind && place.is_declaration && place.name == name;
    });
    if (is_taken && here.kind != NameKind::Branch) {
        throw Error(
            ErrorCode::InvalidArgument,
            fmt::format("The name {} is already taken.", model::in_quotes(name))
        );
    }
    Json edits = Json::array();
    for (const NamePlace& place : places) {
        if (!can_be_written(*document, place, name)) {
            throw Error(
                ErrorCode::InvalidArgument,
                fmt::format(
                    "An expression reads steps.{}: a name that is read in this way has only "
                    "letters, digits and _.",
                    here.name
                )
            );
        }
        edits.push_back(
            {{"range", range_json(document->lines(), place.begin, place.end)}, {"newText", name}}
        );
    }
    // A step without `handler:` calls the handler of its name, which must not change.
    if (here.kind == NameKind::Node) keep_handlers(*document, places, edits);
    const bool is_of_version = here.kind == NameKind::Node || here.kind == NameKind::Attribute;
    return can_annotate_ && is_of_version ? annotated_json(*document, here, std::move(edits))
                                          : changes_json(*document, std::move(edits));
}

}  // namespace ebb::lsp
