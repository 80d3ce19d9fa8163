#include "lsp/features/names.h"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include <nlohmann/json.hpp>

#include "core/expression/spans.h"
#include "core/model/node_kinds.h"
#include "lsp/features/conditions.h"
#include "lsp/lsp.h"
#include "yaml/scalar_map.h"

namespace ebb::lsp {

namespace {

using yaml::LineTree;
using yaml::TreeNode;
using yaml::TreeRange;
using Kind = TreeNode::Kind;

constexpr std::array<std::string_view, 7> kBlockKeys = {
    "steps", "nodes", "then", "else", "do", "default", "on_reject"
};

constexpr std::array<std::string_view, 7> kPayloadKeys = {
    "input", "output", "metadata", "input_schema", "schema", "handlers", "samples"
};

template <std::size_t N>
bool is_one_of(const std::array<std::string_view, N>& words, std::string_view word) {
    return std::find(words.begin(), words.end(), word) != words.end();
}

class NameCollector {
 public:
    explicit NameCollector(const LineTree& tree) : tree_(tree) {
        for (const AttributePlace& place : attributes_of(tree)) {
            attributes_.insert(place.name);
            if (place.is_key) {
                add_key(NameKind::Attribute, place.node);
            } else {
                add_value(NameKind::Attribute, place.node, true);
            }
        }
    }

    std::vector<NamePlace> collect() {
        // A parent comes before its children.
        for (int node = 0; node < static_cast<int>(tree_.nodes().size()); ++node) {
            const int parent = tree_.at(node).parent;
            const bool is_inside = parent >= 0 && is_payload_[static_cast<std::size_t>(parent)];
            is_payload_.push_back(is_inside || is_one_of(kPayloadKeys, tree_.key(node)));
            visit(node);
        }
        std::stable_sort(names_.begin(), names_.end(), [](const NamePlace& a, const NamePlace& b) {
            return a.begin < b.begin;
        });
        return std::move(names_);
    }

 private:
    const LineTree& tree_;
    std::vector<NamePlace> names_;
    std::vector<bool> is_payload_;
    std::set<std::string> attributes_;  ///< that the rules declare

    void add_value(NameKind kind, int node, bool is_declaration) {
        const TreeNode& value = tree_.at(node);
        if (value.kind != Kind::Scalar || value.value.is_empty()) return;
        names_.push_back(
            {.kind = kind,
             .name = tree_.scalar(node),
             .begin = value.value.begin,
             .end = value.value.end,
             .is_declaration = is_declaration,
             .node = node}
        );
    }

    void add_key(NameKind kind, int node, bool is_declaration = true) {
        const TreeNode& member = tree_.at(node);
        names_.push_back(
            {.kind = kind,
             .name = tree_.key(node),
             .begin = member.key.begin,
             .end = member.key.end,
             .is_declaration = is_declaration,
             .node = node}
        );
    }

    /// `&name` before a value, and `*name`.
    void add_anchor(int node) {
        const TreeNode& here = tree_.at(node);
        if (here.kind == Kind::Alias) {
            const auto name = TreeRange{.begin = here.value.begin + 1, .end = here.value.end};
            if (!name.is_empty()) add_anchor_name(node, name, false);
        } else if (const TreeRange name = anchor_of(tree_, node); !name.is_empty()) {
            add_anchor_name(node, name, true);
        }
    }

    void add_anchor_name(int node, const TreeRange& name, bool is_declaration) {
        names_.push_back(
            {.kind = NameKind::Anchor,
             .name = std::string(tree_.slice(name)),
             .begin = name.begin,
             .end = name.end,
             .is_declaration = is_declaration,
             .node = node}
        );
    }

    void visit(int node) {
        const TreeNode& here = tree_.at(node);
        if (here.kind == Kind::Scalar) add_reads(node);
        if (!attributes_.empty()) add_attributes(node);
        add_anchor(node);
        if (here.parent < 0) return;
        const TreeNode& parent = tree_.at(here.parent);
        const std::string key = tree_.key(node);
        const bool is_handler_entry = parent.kind == Kind::Map && parent.parent == 0 &&
                                      tree_.key(here.parent) == "handlers" && here.has_colon;
        if (is_handler_entry) return add_key(NameKind::Handler, node);
        if (is_payload_.back()) return;
        if (parent.kind == Kind::List && is_node_item(tree_, node)) {
            if (here.kind == Kind::Scalar) {
                add_value(NameKind::Node, node, true);
                add_value(NameKind::Handler, node, false);
            } else if (const std::string_view kind = kind_of_node(tree_, node); !kind.empty()) {
                const int name = tree_.find(node, kind);
                add_value(NameKind::Node, name, true);
                if (kind == "step" && tree_.find(node, "handler") < 0) {
                    add_value(NameKind::Handler, name, false);
                }
            }
        }
        if (parent.kind == Kind::Map && here.has_colon) visit_member(node, key);
    }

    void visit_member(int node, const std::string& key) {
        const int map = tree_.at(node).parent;
        const bool is_edge = tree_.find(map, "from") >= 0 && kind_of_node(tree_, map).empty();
        if (key == "handler" || (key == "compensate" && tree_.at(node).kind == Kind::Scalar)) {
            add_value(NameKind::Handler, node, false);
        } else if (is_edge && (key == "from" || key == "to")) {
            add_value(NameKind::Node, node, false);
        } else if (key == "entry" && tree_.find(map, "nodes") >= 0) {
            add_value(NameKind::Node, node, false);
        } else if (key == "branch") {
            add_value(NameKind::Branch, node, true);
        } else if (tree_.at(map).parent >= 0 && tree_.key(map) == "branches") {
            add_key(NameKind::Branch, node);
        }
    }

    /// What a condition reads, and what a transition says that it writes.
    void add_attributes(int node) {
        const TreeNode& here = tree_.at(node);
        if (here.kind == Kind::Scalar && is_condition(tree_, node)) {
            const yaml::DecodedScalar decoded =
                yaml::decode_scalar(tree_.slice(here.value), here.style);
            for (const auto& read : attribute_reads(decoded.text, attributes_)) {
                names_.push_back(
                    {.kind = NameKind::Attribute,
                     .name = read.text,
                     .begin = here.value.begin + decoded.places[read.offset],
                     .end = here.value.begin + decoded.places[read.end],
                     .node = node}
                );
            }
        }
        if (here.parent <= 0) return;
        if (names_attributes(tree_, here.parent)) {
            if (here.has_colon) return add_key(NameKind::Attribute, node, false);
            return add_value(NameKind::Attribute, node, false);
        }
        const int list = tree_.at(here.parent).parent;
        const bool is_of_item = tree_.key(node) == "attribute" && list > 0 &&
                                tree_.at(list).kind == Kind::List && names_attributes(tree_, list);
        if (is_of_item) add_value(NameKind::Attribute, node, false);
    }

    void add_reads(int node) {
        for (const ExpressionPlace& place : expressions_of(tree_, node)) {
            for (const expression::Span& span : expression::step_reads(place.source)) {
                add_read(NameKind::Node, place, span, node);
            }
            if (attributes_.empty()) continue;
            for (const expression::Span& span : expression::member_reads(place.source, "state")) {
                add_read(NameKind::Attribute, place, span, node);
            }
        }
    }

    void add_read(
        NameKind kind, const ExpressionPlace& place, const expression::Span& span, int node
    ) {
        std::string name = place.source.substr(span.begin, span.end - span.begin);
        if (kind == NameKind::Attribute && !attributes_.contains(name)) return;
        names_.push_back(
            {.kind = kind,
             .name = std::move(name),
             .begin = place.places[span.begin],
             .end = place.places[span.end],
             .node = node}
        );
    }
};

}  // namespace

TreeRange anchor_of(const LineTree& tree, int node) {
    const TreeNode& here = tree.at(node);
    const std::string_view text = tree.text();
    std::size_t at = here.whole.begin;
    if (here.has_colon) {
        at = text.find(':', here.key.end) + 1;
    } else if (here.parent >= 0 && !tree.at(here.parent).is_flow) {
        ++at;  // the dash
    }
    const auto is_end = [text](std::size_t i) {
        return i >= text.size() ||
               std::string_view(" \t\r\n,]}").find(text[i]) != std::string_view::npos;
    };
    TreeRange found;
    while (true) {
        while (at < text.size() && (text[at] == ' ' || text[at] == '\t')) ++at;
        if (at >= text.size() || (text[at] != '&' && text[at] != '!')) break;
        const std::size_t begin = at;
        while (!is_end(at)) ++at;
        if (text[begin] != '&') continue;
        found = {
            .begin = static_cast<std::uint32_t>(begin + 1), .end = static_cast<std::uint32_t>(at)
        };
    }
    // `- &a key: value` is about the key.
    const bool is_of_key = here.kind == Kind::Map && !here.is_flow && !here.has_colon &&
                           here.value.begin <= at && at < text.size() && text[at] != '\n' &&
                           text[at] != '\r' && text[at] != '#';
    return is_of_key ? TreeRange{} : found;
}

std::string_view kind_of_node(const LineTree& tree, int map) {
    if (map < 0 || tree.at(map).kind != Kind::Map) return {};
    for (const std::string_view kind : model::kNodeKinds) {
        if (tree.find(map, kind) >= 0) return kind;
    }
    return {};
}

bool is_in_payload(const LineTree& tree, int node) {
    for (int at = node; at > 0; at = tree.at(at).parent) {
        if (is_one_of(kPayloadKeys, tree.key(at))) return true;
    }
    return false;
}

bool is_free_form(const LineTree& tree, int node) {
    std::vector<std::string> path;  // from the node up to below `handlers`
    int at = node;
    for (; at > 0 && tree.at(at).parent > 0; at = tree.at(at).parent) {
        path.push_back(tree.key(at));
    }
    if (at <= 0 || tree.key(at) != "handlers") return is_in_payload(tree, node);
    if (path.size() < 2) return false;
    static constexpr std::array<std::string_view, 3> kOfEntry = {
        "input_schema", "output_schema", "defaults"
    };
    static constexpr std::array<std::string_view, 2> kOfCall = {"headers", "body"};
    const std::string& key = path[path.size() - 2];
    if (path.size() == 2) return is_one_of(kOfEntry, key);
    return path.size() > 3 || key != "http" || is_one_of(kOfCall, path.front());
}

bool is_node_item(const LineTree& tree, int item) {
    const int list = tree.at(item).parent;
    if (list < 0 || tree.at(list).kind != Kind::List) return false;
    if (is_one_of(kBlockKeys, tree.key(list))) return true;
    const int map = tree.at(list).parent;
    return map > 0 && tree.key(map) == "branches";
}

bool is_expression_key(std::string_view key) {
    static constexpr std::array<std::string_view, 6> kKeys = {
        "when", "while", "until", "next", "concurrency_key", "$expr"
    };
    return is_one_of(kKeys, key);
}

std::vector<ExpressionPlace> expressions_of(const LineTree& tree, int scalar) {
    std::vector<ExpressionPlace> found;
    const TreeNode& node = tree.at(scalar);
    const std::string_view raw = tree.slice(node.value);
    const std::string key = tree.key(scalar);
    const bool is_whole = is_expression_key(key) && raw.find("${") == std::string_view::npos &&
                          !is_in_payload(tree, scalar) &&
                          !(key == "until" && tree.find(node.parent, "delay") >= 0) &&
                          !is_condition(tree, scalar);
    if (!is_whole && raw.find("${") == std::string_view::npos) return found;
    const yaml::DecodedScalar decoded = yaml::decode_scalar(raw, node.style);
    const std::vector<expression::Span> spans =
        is_whole ? std::vector<expression::Span>{{.begin = 0, .end = decoded.text.size()}}
                 : expression::expressions_in(decoded.text);
    for (const expression::Span& span : spans) {
        ExpressionPlace place{
            .begin = node.value.begin + decoded.places[span.begin],
            .end = node.value.begin + decoded.places[span.end],
            .source = decoded.text.substr(span.begin, span.end - span.begin)
        };
        for (std::size_t i = span.begin; i <= span.end; ++i) {
            place.places.push_back(node.value.begin + decoded.places[i]);
        }
        found.push_back(std::move(place));
    }
    return found;
}

std::string node_around(const LineTree& tree, int node) {
    for (int at = node; at > 0; at = tree.at(at).parent) {
        if (!is_node_item(tree, at) || is_in_payload(tree, at)) continue;
        if (tree.at(at).kind == Kind::Scalar) return tree.scalar(at);
        const std::string_view kind = kind_of_node(tree, at);
        if (!kind.empty()) return tree.scalar(tree.find(at, kind));
    }
    return {};
}

std::vector<NamePlace> names_of(const LineTree& tree) {
    return NameCollector(tree).collect();
}

}  // namespace ebb::lsp
