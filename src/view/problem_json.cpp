#include "view/problem_json.h"

namespace ebb::view {

namespace {

Json position_json(int position) {
    return position == 0 ? Json(nullptr) : Json(position);
}

Json range_json(const SourceRange& range) {
    return {
        {"line", position_json(range.line)},
        {"column", position_json(range.column)},
        {"end_line", position_json(range.end_line)},
        {"end_column", position_json(range.end_column)},
    };
}

}  // namespace

Json problems_json(std::span<const Diagnostic> problems) {
    Json json = Json::array();
    for (const Diagnostic& problem : problems) {
        json.push_back({
            {"code", problem.code},
            {"pointer", problem.path},
            {"message", problem.message},
            {"line", position_json(problem.line)},
            {"column", position_json(problem.column)},
        });
    }
    return json;
}

Json detailed_problems_json(std::span<const Diagnostic> problems) {
    Json json = problems_json(problems);
    for (std::size_t i = 0; i < problems.size(); ++i) {
        const Diagnostic& problem = problems[i];
        const bool is_warning = problem.severity == Diagnostic::Severity::Warning;
        json[i]["severity"] = is_warning ? "warning" : "error";
        json[i]["end_line"] = position_json(problem.end_line);
        json[i]["end_column"] = position_json(problem.end_column);
        json[i]["related"] = Json::array();
        json[i]["fixes"] = Json::array();
        for (const Diagnostic::Related& related : problem.related) {
            Json entry = range_json(related.range);
            entry["message"] = related.message;
            entry["pointer"] = related.path;
            json[i]["related"].push_back(std::move(entry));
        }
        for (const Diagnostic::Fix& fix : problem.fixes) {
            Json entry = range_json(fix.range);
            entry["title"] = fix.title;
            entry["replacement"] = fix.replacement;
            json[i]["fixes"].push_back(std::move(entry));
        }
    }
    return json;
}

}  // namespace ebb::view
