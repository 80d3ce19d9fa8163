#include "view/problem_json.h"

namespace ebb::view {

namespace {

Json position_json(int position) {
    return position == 0 ? Json(nullptr) : Json(position);
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

}  // namespace ebb::view
