// Inlay hints: at a step, what applies to it without being written there.

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/model/walk.h"
#include "lsp/features/names.h"
#include "lsp/features/node_text.h"
#include "lsp/features/request.h"
#include "lsp/lsp.h"
#include "support/clock.h"

namespace ebb::lsp {

namespace {

using yaml::LineTree;
using yaml::TreeNode;

struct Hint {
    std::string key;
    std::string value;
    std::string origin{};  ///< for the tooltip
};

class InlayHints {
 public:
    InlayHints(const Document& document, const CheckSettings& settings, InlayMode mode)
        : document_(document), settings_(settings), tree_(document.tree()), mode_(mode) {}

    Json run(std::size_t begin, std::size_t end) {
        if (mode_ == InlayMode::All) walk_.emplace(document_.checked(settings_).definition);
        for (const NamePlace& place : names_of(tree_)) {
            const bool is_asked = place.begin >= begin && place.begin <= end;
            if (place.kind == NameKind::Node && place.is_declaration && is_asked) add(place);
        }
        return std::move(hints_);
    }

 private:
    const Document& document_;
    const CheckSettings& settings_;
    const LineTree& tree_;
    const InlayMode mode_;
    std::optional<model::Walk> walk_;  ///< of mode All
    Json hints_ = Json::array();

    void add(const NamePlace& place) {
        if (hints_.size() >= DocumentLimits::kSymbolsMax) return;
        const bool is_short = tree_.at(tree_.at(place.node).parent).kind == TreeNode::Kind::List;
        // A step that is only a name has no map.
        const int map = is_short ? -1 : tree_.at(place.node).parent;
        if (map >= 0 && kind_of_node(tree_, map) != "step") return;
        std::vector<Hint> hints = from_defaults();
        if (mode_ == InlayMode::All) add_effective(place.name, hints);
        std::string label;
        std::string tooltip;
        for (const Hint& hint : hints) {
            if (map >= 0 && tree_.find(map, hint.key) >= 0) continue;
            label += fmt::format("{}{}: {}", label.empty() ? "" : ", ", hint.key, hint.value);
            tooltip += fmt::format("{}{} {}", tooltip.empty() ? "" : "\n", hint.key, hint.origin);
        }
        if (label.empty()) return;
        hints_.push_back(
            {{"position", to_json(document_.lines().position(tree_.at(place.node).whole.end))},
             {"label", std::move(label)},
             {"tooltip", std::move(tooltip)},
             {"paddingLeft", true}}
        );
    }

    std::string origin_of(const char* key) const {
        const int member = tree_.find(tree_.find(0, "defaults"), key);
        if (member < 0) return "is Ebb's default.";
        const std::size_t line = document_.lines().position(tree_.at(member).key.begin).line + 1;
        return fmt::format("is from line {}.", line);
    }

    /// What `defaults:` says in one word.
    std::vector<Hint> from_defaults() const {
        std::vector<Hint> hints;
        const int defaults = tree_.find(0, "defaults");
        if (defaults < 0) return hints;
        for (const int member : tree_.at(defaults).children) {
            const TreeNode& value = tree_.at(member);
            if (value.kind != TreeNode::Kind::Scalar || !value.has_colon) continue;
            const std::string key = tree_.key(member);
            hints.push_back({key, tree_.scalar(member), origin_of(key.c_str())});
        }
        return hints;
    }

    void add_effective(const std::string& name, std::vector<Hint>& hints) const {
        const int number = walk_->find(name);
        const Step* step = number < 0 ? nullptr : std::get_if<Step>(&walk_->at(number).node->kind);
        if (step == nullptr) return;
        const auto add = [&](const char* key, std::string value) {
            const bool is_known = std::any_of(hints.begin(), hints.end(), [key](const Hint& hint) {
                return hint.key == key;
            });
            if (!is_known) hints.push_back({key, std::move(value), origin_of(key)});
        };
        const AttemptPolicy& attempts = step->attempts;
        add("max_attempts", std::to_string(attempts.max_attempts));
        if (const std::string delays = delays_text(attempts); !delays.empty()) {
            add("backoff", delays);
        }
        if (attempts.timeout != Duration::zero()) {
            add("timeout", format_duration(attempts.timeout));
        }
        if (attempts.step_timeout != Duration::zero()) {
            add("step_timeout", format_duration(attempts.step_timeout));
        }
    }
};

}  // namespace

Json Server::list_hints(const Json& params) {
    const Document* document = document_of(params);
    if (document == nullptr || inlay_ == InlayMode::Off) return Json::array();
    const Json& range = params.at("range");
    const std::size_t begin = offset_at(*document, range.at("start"));
    return InlayHints(*document, settings(), inlay_)
        .run(begin, offset_at(*document, range.at("end")));
}

InlayMode read_inlay_mode(const Json& settings, InlayMode otherwise) {
    if (!settings.is_object() || !settings.contains("inlayHints")) return otherwise;
    const Json& mode = settings["inlayHints"];
    if (mode == "all") return InlayMode::All;
    if (mode == "defaults") return InlayMode::Defaults;
    return mode == "off" ? InlayMode::Off : otherwise;
}

}  // namespace ebb::lsp
