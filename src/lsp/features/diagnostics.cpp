#include "lsp/features/diagnostics.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "lsp/features/missing.h"
#include "lsp/features/refactor.h"
#include "lsp/features/request.h"
#include "lsp/lsp.h"
#include "source/problem_page.h"

namespace ebb::lsp {

namespace {

constexpr std::array<std::string_view, 2> kUnnecessary = {"unused_handler", "unreachable"};

SourceRange range_of(const Diagnostic& problem) {
    return {problem.line, problem.column, problem.end_line, problem.end_column};
}

/// An editor underlines nothing for an empty range.
Json visible_range(const LineIndex& lines, const SourceRange& range) {
    const std::size_t begin = lines.offset_of_place(range.line, range.column);
    const std::size_t end = lines.offset_of_place(range.end_line, range.end_column);
    if (end > begin) return range_json(lines, begin, end);
    const std::size_t next = lines.offset_of_place(range.line, range.column + 1);
    if (next > begin) return range_json(lines, begin, next);
    const std::size_t before = lines.offset_of_place(range.line, std::max(range.column - 1, 1));
    return range_json(lines, before, begin);
}

/// Where the code is explained.
void add_page(Json& json, const CheckSettings& settings, std::string_view code) {
    std::string address = source::problem_address(settings.docs, code);
    if (!address.empty()) json["codeDescription"] = {{"href", std::move(address)}};
}

}  // namespace

Json diagnostic_json(
    const Document& document, const CheckSettings& settings, const Diagnostic& problem
) {
    const LineIndex& lines = document.lines();
    const bool is_warning = problem.severity == Diagnostic::Severity::Warning;
    Json json = {
        {"range", visible_range(lines, range_of(problem))},
        {"severity", is_warning ? 2 : 1},
        {"code", problem.code},
        {"source", "ebb"},
        {"message", problem.message},
    };
    for (const Diagnostic::Related& related : problem.related) {
        if (related.range.line <= 0) continue;
        json["relatedInformation"].push_back(
            {{"location", {{"uri", document.uri()}, {"range", visible_range(lines, related.range)}}
             },
             {"message", related.message}}
        );
    }
    const bool is_unnecessary =
        std::find(kUnnecessary.begin(), kUnnecessary.end(), problem.code) != kUnnecessary.end();
    if (is_unnecessary) json["tags"] = {1};
    add_page(json, settings, problem.code);
    return json;
}

namespace {

Json missing_json(
    const Document& document, const CheckSettings& settings, const MissingHandler& missing
) {
    constexpr int kWarning = 2;
    Json json = {
        {"range", range_json(document.lines(), missing.place.begin, missing.place.end)},
        {"severity", kWarning},
        {"code", "missing_handler"},
        {"source", "ebb"},
        {"message", missing.message},
    };
    add_page(json, settings, "missing_handler");
    return json;
}

Json edit_json(const Document& document, const Diagnostic::Fix& fix) {
    return {{"range", range_json(document.lines(), fix.range)}, {"newText", fix.replacement}};
}

Json workspace_edit(const Document& document, Json edits) {
    return {{"changes", {{document.uri(), std::move(edits)}}}};
}

}  // namespace

Json diagnostics_json(const Document& document, const CheckSettings& settings) {
    Json list = Json::array();
    for (const Diagnostic& problem : document.checked(settings).problems) {
        if (list.size() >= DocumentLimits::kDiagnosticsMax) break;
        list.push_back(diagnostic_json(document, settings, problem));
    }
    for (const MissingHandler& missing : missing_handlers(document, settings)) {
        if (list.size() >= DocumentLimits::kDiagnosticsMax) break;
        list.push_back(missing_json(document, settings, missing));
    }
    return list;
}

Json actions_json(
    const Document& document, const CheckSettings& settings, std::size_t begin, std::size_t end
) {
    Json actions = Json::array();
    const LineIndex& lines = document.lines();
    for (const Diagnostic& problem : document.checked(settings).problems) {
        const std::size_t from = lines.offset_of_place(problem.line, problem.column);
        const std::size_t to = lines.offset_of_place(problem.end_line, problem.end_column);
        if (from > end || std::max(from, to) < begin) continue;
        for (const Diagnostic::Fix& fix : problem.fixes) {
            actions.push_back(
                {{"title", fix.title},
                 {"kind", "quickfix"},
                 {"diagnostics", {diagnostic_json(document, settings, problem)}},
                 {"isPreferred", problem.fixes.size() == 1},
                 {"edit", workspace_edit(document, Json::array({edit_json(document, fix)}))}}
            );
        }
    }
    for (const MissingHandler& missing : missing_handlers(document, settings)) {
        const bool is_here = missing.place.begin <= end && missing.place.end >= begin;
        if (!is_here || missing.meant.empty()) continue;
        const Json range = range_json(lines, missing.place.begin, missing.place.end);
        actions.push_back(
            {{"title", fmt::format("Replace by \"{}\"", missing.meant)},
             {"kind", "quickfix"},
             {"diagnostics", {missing_json(document, settings, missing)}},
             {"isPreferred", true},
             {"edit",
              workspace_edit(
                  document, Json::array({{{"range", range}, {"newText", missing.meant}}})
              )}}
        );
    }
    return actions;
}

Json fix_all_json(const Document& document, const CheckSettings& settings) {
    Json edits = Json::array();
    SourceRange last;
    for (const Diagnostic& problem : document.checked(settings).problems) {
        if (problem.fixes.size() != 1) continue;
        const Diagnostic::Fix& fix = problem.fixes.front();
        // Edits of one action must not overlap.
        const bool is_behind = std::pair(fix.range.line, fix.range.column) >=
                               std::pair(last.end_line, last.end_column);
        if (!is_behind || fix.range == last) continue;
        last = fix.range;
        edits.push_back(edit_json(document, fix));
    }
    if (edits.empty()) return nullptr;
    return {
        {"title", "Fix all problems with one possible fix"},
        {"kind", "source.fixAll.ebb"},
        {"edit", workspace_edit(document, std::move(edits))}
    };
}

Json Server::list_actions(const Json& params) {
    const Document* document = document_of(params);
    if (document == nullptr) return Json::array();
    const Json& range = params.at("range");
    const std::size_t begin = offset_at(*document, range.at("start"));
    const std::size_t end = offset_at(*document, range.at("end"));
    Json only = Json::array();
    if (params.contains("context")) only = params["context"].value("only", Json::array());
    const auto wants = [&](std::string_view kind) {
        return only.empty() || std::any_of(only.begin(), only.end(), [kind](const Json& wanted) {
                   return wanted.is_string() &&
                          kind.starts_with(wanted.get_ref<const std::string&>());
               });
    };
    Json actions = Json::array();
    if (wants("quickfix")) {
        actions = actions_json(*document, settings(), begin, end);
        add_repairs(*document, settings(), {begin, end}, actions);
    }
    if (!document->uri().ends_with(".json")) {
        if (wants("quickfix")) {
            add_merge_key_repairs(*document, settings(), {begin, end}, actions);
            if (can_create_files_) {
                add_document_moves(*document, settings(), {begin, end}, actions);
            }
        }
        if (wants("refactor.rewrite")) {
            add_descriptions(*document, settings(), {begin, end}, actions);
            add_rewrites(*document, {begin, end}, actions);
            add_key_sorting(*document, {begin, end}, actions);
        }
        if (wants("refactor.extract")) add_extractions(*document, {begin, end}, actions);
    }
    if (wants("refactor.extract") && commands_.contains("ebb.copyText")) {
        add_stubs(*document, {begin, end}, actions);
    }
    if (wants("source.fixAll.ebb")) {
        Json all = fix_all_json(*document, settings());
        if (!all.is_null()) actions.push_back(std::move(all));
    }
    return actions;
}

}  // namespace ebb::lsp
