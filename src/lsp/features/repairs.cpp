// Quick fixes that need more of the text than its diagnostics know.

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "lsp/features/diagnostics.h"
#include "lsp/features/handlers.h"
#include "lsp/features/names.h"
#include "lsp/features/refactor.h"
#include "lsp/features/request.h"
#include "lsp/features/text_parts.h"
#include "support/json.h"

namespace ebb::lsp {

namespace {

using yaml::TreeNode;
using Kind = TreeNode::Kind;

constexpr std::string_view kQuickFix = "quickfix";
constexpr std::string_view kRewrite = "refactor.rewrite";
constexpr std::array<std::string_view, 2> kUnits = {"s", "m"};

class Repairs {
 public:
    Repairs(
        const Document& document,
        const CheckSettings& settings,
        const Selection& selection,
        Json& actions
    )
        : document_(document),
          settings_(settings),
          parts_(document),
          selection_(selection),
          actions_(actions) {}

    void run() {
        for (const Diagnostic& problem : document_.checked(settings_).problems) {
            const LineIndex& lines = document_.lines();
            const std::size_t begin = lines.offset_of_place(problem.line, problem.column);
            const std::size_t end =
                std::max(begin, lines.offset_of_place(problem.end_line, problem.end_column));
            if (begin > selection_.end || end < selection_.begin) continue;
            problem_ = &problem;
            if (problem.code == "duplicate_name") rename(begin, end);
            if (problem.code == "invalid_duration") add_unit(begin, end);
            if (problem.code == "yaml_syntax") quote_expression(begin);
        }
    }

    void describe_handler() {
        if (document_.kind() != source::TextKind::Workflow) return;
        if (document_.uri().ends_with(".json")) return;
        const auto call = handler_at(document_, selection_.begin);
        if (!call || call->role != HandlerPlace::Role::Call || call->name.empty()) return;
        const bool is_served =
            document_.checked(settings_).definition.handlers.contains(call->name) ||
            (settings_.index != nullptr && !settings_.index->registrations(call->name, "").empty());
        if (is_served) return;
        const yaml::LineTree& tree = parts_.tree();
        const std::string& eol = parts_.line_break();
        const std::string word = yaml_word(call->name);
        const std::string title = fmt::format("Describe \"{}\" in \"handlers\"", call->name);
        const int handlers = tree.find(0, "handlers");
        if (handlers >= 0) {
            const TreeNode& here = tree.at(handlers);
            if (here.kind != Kind::Map || here.is_flow || here.children.empty()) return;
            const std::size_t at = tree.at(here.children.front()).whole.begin;
            const std::string in(parts_.column(at), ' ');
            return add(
                title, {{at, at, fmt::format("{0}:{1}{2}  exec: [{0}]{1}{2}", word, eol, in)}}
            );
        }
        int block = tree.find(0, "steps");
        if (block < 0) block = tree.find(0, "nodes");
        if (block < 0) return;
        const std::size_t at = tree.at(block).whole.begin;
        if (parts_.column(at) != 0) return;
        add(title, {{at, at, fmt::format("handlers:{1}  {0}:{1}    exec: [{0}]{1}", word, eol)}});
    }

 private:
    const Document& document_;
    const CheckSettings& settings_;
    TextParts parts_;
    Selection selection_;
    Json& actions_;
    const Diagnostic* problem_ = nullptr;  ///< that is being repaired

    void add(std::string title, const std::vector<TextEdit>& edits) {
        Json action = action_json(
            document_, std::move(title), problem_ == nullptr ? kRewrite : kQuickFix, edits
        );
        if (problem_ != nullptr) {
            action["diagnostics"] = Json::array({diagnostic_json(document_, settings_, *problem_)});
        }
        actions_.push_back(std::move(action));
    }

    /// The step keeps the handler that it has now.
    void rename(std::size_t begin, std::size_t end) {
        for (const NamePlace& place : names_of(document_.tree())) {
            const bool is_it = place.kind == NameKind::Node && place.is_declaration &&
                               place.begin >= begin && place.end <= end;
            if (!is_it) continue;
            const std::string name = parts_.free_name(place.name);
            std::string text = step_with_handler(document_, place, name, place.name);
            if (text.empty()) text = name;
            return add(
                fmt::format("Rename this one to \"{}\"", name), {{place.begin, place.end, text}}
            );
        }
    }

    void add_unit(std::size_t begin, std::size_t end) {
        const std::string_view number = parts_.text().substr(begin, end - begin);
        const bool is_number =
            !number.empty() && number.size() < 10 &&
            std::all_of(number.begin(), number.end(), [](char c) { return c >= '0' && c <= '9'; });
        if (!is_number) return;
        for (const std::string_view unit : kUnits) {
            add(fmt::format("Write \"{}{}\"", number, unit), {{end, end, std::string(unit)}});
        }
    }

    /// Inside of brackets, `${ }` without quotes begins a map.
    void quote_expression(std::size_t at) {
        const std::string_view line = parts_.text().substr(
            parts_.line_begin(at), parts_.line_end(at) - parts_.line_begin(at)
        );
        const std::size_t offset = parts_.line_begin(at);
        for (std::size_t begin = line.find("${"); begin != std::string_view::npos;
             begin = line.find("${", begin + 1)) {
            const std::size_t close = line.find('}', begin);
            if (close == std::string_view::npos) return;
            const std::size_t before = line.find_last_not_of(' ', begin == 0 ? 0 : begin - 1);
            const bool is_bare =
                begin > 0 && before != std::string_view::npos &&
                std::string_view(":,[").find(line[before]) != std::string_view::npos;
            const std::string_view expression = line.substr(begin, close + 1 - begin);
            const bool is_simple = expression.find_first_of("\"'{", 2) == std::string_view::npos;
            if (!is_bare || !is_simple) continue;
            return add(
                "Put the expression into quotes",
                {{offset + begin, offset + close + 1, fmt::format("\"{}\"", expression)}}
            );
        }
    }
};

}  // namespace

void add_repairs(
    const Document& document,
    const CheckSettings& settings,
    const Selection& selection,
    Json& actions
) {
    Repairs(document, settings, selection, actions).run();
}

void add_descriptions(
    const Document& document,
    const CheckSettings& settings,
    const Selection& selection,
    Json& actions
) {
    Repairs(document, settings, selection, actions).describe_handler();
}

void add_stubs(const Document& document, const Selection& selection, Json& actions) {
    const auto call = handler_at(document, selection.begin);
    if (!call || call->role != HandlerPlace::Role::Call || call->name.empty()) return;
    const std::string code = fmt::format(
        "handlers.add({}, [](const ebb::Json& input) {{\n    return input;\n}});\n",
        to_text(Json(call->name))
    );
    actions.push_back(
        {{"title", fmt::format("Copy C++ code that registers \"{}\"", call->name)},
         {"kind", "refactor.extract"},
         {"command", {{"title", "Copy"}, {"command", "ebb.copyText"}, {"arguments", {code}}}}}
    );
}

}  // namespace ebb::lsp
