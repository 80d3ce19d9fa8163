// Quick fixes that need more of the text than its diagnostics know.

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/model/words.h"
#include "lsp/features/diagnostics.h"
#include "lsp/features/handlers.h"
#include "lsp/features/refactoring.h"
#include "lsp/features/request.h"
#include "support/json.h"

namespace ebb::lsp {

namespace {

using yaml::TreeNode;
using Kind = TreeNode::Kind;

constexpr std::array<std::string_view, 2> kUnits = {"s", "m"};

class Repairs : public Refactoring {
 public:
    Repairs(
        const Document& document,
        const CheckSettings& settings,
        const Selection& selection,
        Json& actions
    )
        : Refactoring(document, selection, actions), settings_(settings) {}

    void run() {
        for (const Diagnostic& problem : document_.checked(settings_).problems) {
            const LineIndex& lines = document_.lines();
            const std::size_t begin = lines.offset_of_place(problem.line, problem.column);
            const std::size_t end =
                std::max(begin, lines.offset_of_place(problem.end_line, problem.end_column));
            if (begin > selection_.end || end < selection_.begin) continue;
            problem_ = &problem;
            if (problem.code == "duplicate_name") rename(begin, end);
            if (problem.code == "invalid_duration" && problem.fixes.empty()) add_unit(begin, end);
            if (problem.code == "yaml_syntax") quote_expression(begin);
            if (problem.code == "unknown_alias") name_anchor(begin);
        }
    }

 private:
    const CheckSettings& settings_;
    const Diagnostic* problem_ = nullptr;  ///< that is being repaired

    void add(std::string title, const std::vector<TextEdit>& edits) {
        Json& action = Refactoring::add(std::move(title), kQuickFixKind, edits);
        action["diagnostics"] = Json::array({diagnostic_json(document_, settings_, *problem_)});
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

    /// The nearest of the anchors before the alias.
    void name_anchor(std::size_t at) {
        std::vector<std::string_view> anchors;
        const std::vector<NamePlace> names = names_of(tree_);
        for (const NamePlace& place : names) {
            if (place.kind != NameKind::Anchor || place.end < at) {
                const bool is_anchor = place.kind == NameKind::Anchor && place.is_declaration;
                if (is_anchor) anchors.push_back(place.name);
                continue;
            }
            if (place.is_declaration || place.begin > at + 1) return;
            const std::string_view meant = model::closest(place.name, anchors);
            if (meant.empty()) return;
            return add(
                fmt::format("Replace \"{}\" with \"{}\"", place.name, meant),
                {{place.begin, place.end, std::string(meant)}}
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

/// What is behind a `---` goes to a file of its own, beside the file.
class DocumentMove : public Refactoring {
 public:
    using Refactoring::Refactoring;

    void run(const CheckSettings& settings) {
        for (const Diagnostic& problem : document_.checked(settings).problems) {
            if (problem.code != "several_documents") continue;
            const std::size_t at = document_.lines().offset_of_place(problem.line, problem.column);
            const bool is_selected =
                parts_.line_begin(at) <= selection_.end && selection_.begin <= parts_.line_end(at);
            const bool is_separator = text().substr(at).starts_with("---");
            if (is_selected && is_separator)
                move(at, diagnostic_json(document_, settings, problem));
        }
    }

 private:
    void move(std::size_t at, Json problem) {
        const std::size_t line_end = std::min(text().find('\n', at), text().size() - 1);
        const std::string moved(text().substr(line_end + 1));
        if (moved.empty()) return;
        const std::string uri = new_uri(moved);
        const LineIndex& lines = document_.lines();
        const LineIndex none("", Encoding::Utf8);
        Json insertion = {{"range", range_json(none, 0, 0)}, {"newText", moved}};
        Json deletion = {{"range", range_json(lines, at, text().size())}, {"newText", ""}};
        const Json created = {{"uri", uri}, {"version", nullptr}};
        const Json here = {{"uri", document_.uri()}, {"version", document_.version}};
        Json& action =
            add(fmt::format("Move to {}", uri.substr(uri.rfind('/') + 1)), kQuickFixKind, {});
        action["diagnostics"] = Json::array({std::move(problem)});
        action["edit"] = {
            {"documentChanges",
             Json::array(
                 {Json{{"kind", "create"}, {"uri", uri}},
                  Json{{"textDocument", created}, {"edits", Json::array({std::move(insertion)})}},
                  Json{{"textDocument", here}, {"edits", Json::array({std::move(deletion)})}}}
             )}
        };
    }

    /// By the name of its workflow, if that can be a file's.
    std::string new_uri(const std::string& moved) const {
        const yaml::LineTree tree(moved);
        const int head = tree.find(0, "workflow");
        const std::string name = head < 0 ? std::string() : tree.scalar(head);
        const std::string& own = document_.uri();
        const std::string folder = own.substr(0, own.rfind('/') + 1);
        const bool is_word = !name.empty() && name.size() <= 100 && yaml_word(name) == name;
        std::string uri = folder + name + ".ebb.yaml";
        if (is_word && uri != own) return uri;
        const std::string file = own.substr(folder.size());
        return folder + file.substr(0, file.find('.')) + "-2.ebb.yaml";
    }
};

/// An entry in `handlers:`.
class Description : public Refactoring {
 public:
    using Refactoring::Refactoring;

    void run(const CheckSettings& settings) {
        if (document_.kind() != source::TextKind::Workflow) return;
        const auto call = handler_at(document_, selection_.begin);
        if (!call || call->role != HandlerPlace::Role::Call || call->name.empty()) return;
        const bool is_served =
            document_.checked(settings).definition.handlers.contains(call->name) ||
            (settings.index != nullptr && !settings.index->registrations(call->name, "").empty());
        if (is_served) return;
        const std::string& eol = parts_.line_break();
        const std::string word = yaml_word(call->name);
        const std::string title = fmt::format("Describe \"{}\" in \"handlers\"", call->name);
        const int handlers = tree_.find(0, "handlers");
        if (handlers < 0) {
            const auto at = place_before_nodes();
            if (!at) return;
            const std::string entry =
                fmt::format("handlers:{1}  {0}:{1}    exec: [{0}]{1}", word, eol);
            add(title, kRewriteKind, {{*at, *at, entry}});
            return;
        }
        const TreeNode& here = tree_.at(handlers);
        if (here.kind != Kind::Map || here.is_flow || here.children.empty()) return;
        const std::size_t at = tree_.at(here.children.front()).whole.begin;
        const std::string in(parts_.column(at), ' ');
        const std::string entry = fmt::format("{0}:{1}{2}  exec: [{0}]{1}{2}", word, eol, in);
        add(title, kRewriteKind, {{at, at, entry}});
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

void add_document_moves(
    const Document& document,
    const CheckSettings& settings,
    const Selection& selection,
    Json& actions
) {
    DocumentMove(document, selection, actions).run(settings);
}

void add_descriptions(
    const Document& document,
    const CheckSettings& settings,
    const Selection& selection,
    Json& actions
) {
    Description(document, selection, actions).run(settings);
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
