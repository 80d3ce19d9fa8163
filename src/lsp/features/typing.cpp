// `textDocument/onTypeFormatting`: the indent of the line that a line break has begun.

#include <algorithm>

#include <nlohmann/json.hpp>

#include "lsp/features/names.h"
#include "lsp/features/request.h"
#include "lsp/lsp.h"

namespace ebb::lsp {

namespace {

constexpr std::string_view kBlanks = " \t\r";

/// Of a line: where its dash, its key and what follows them begin.
struct Line {
    std::size_t key = 0;  ///< the column behind blanks and dashes
    bool is_empty = true;
    bool is_item = false;
    bool opens_block = false;  ///< ends with the colon of a key
    bool has_key = false;
};

Line read_line(std::string_view text) {
    Line line;
    std::size_t at = text.find_first_not_of(' ');
    if (at == std::string_view::npos || text[at] == '#' || text[at] == '\t') return line;
    while (at + 1 < text.size() && text[at] == '-' && text[at + 1] == ' ') {
        line.is_item = true;
        at = text.find_first_not_of(' ', at + 1);
        if (at == std::string_view::npos) return line;
    }
    line.key = at;
    std::size_t end = text.find(" #");
    if (end == std::string_view::npos) end = text.size();
    while (end > at && kBlanks.find(text[end - 1]) != std::string_view::npos) --end;
    line.is_empty = end <= at;
    if (line.is_empty) return line;
    // What follows is inside of brackets.
    line.is_empty = std::string_view(",[{").find(text[end - 1]) != std::string_view::npos;
    line.opens_block = text[end - 1] == ':';
    line.has_key = line.opens_block || text.substr(0, end).find(": ", at) != std::string_view::npos;
    return line;
}

}  // namespace

Json Server::format_line(const Json& params) {
    const Document* document = document_of(params);
    if (document == nullptr || document->uri().ends_with(".json")) return nullptr;
    if (params.value("ch", std::string()) != "\n") return nullptr;
    const LineIndex& lines = document->lines();
    const std::size_t number = params.at("position").at("line").get<std::size_t>();
    if (number == 0 || number >= lines.line_count()) return nullptr;
    const std::string_view here = lines.line(number);
    if (here.find_first_not_of(kBlanks) != std::string_view::npos) return nullptr;
    // Inside of a text of several lines or of brackets, the blanks are the writer's.
    const std::size_t begin = lines.start_of_line(number);
    const yaml::LineTree& tree = document->tree();
    for (int node = tree.innermost(begin); node >= 0; node = tree.at(node).parent) {
        const yaml::TreeNode& around = tree.at(node);
        const bool is_inside = around.value.begin < begin && begin < around.value.end;
        const bool has_own = around.kind == yaml::TreeNode::Kind::Scalar || around.is_flow;
        if (is_inside && has_own) return nullptr;
    }
    const Line before = read_line(lines.line(number - 1));
    if (before.is_empty || !before.has_key) return nullptr;
    std::size_t columns = before.key;
    if (before.opens_block) columns += 2;
    const std::size_t blanks = std::min(here.find_last_not_of('\r') + 1, here.size());
    if (here.substr(0, blanks) == std::string(columns, ' ')) return Json::array();
    return Json::array(
        {{{"range", range_json(lines, begin, begin + blanks)},
          {"newText", std::string(columns, ' ')}}}
    );
}

}  // namespace ebb::lsp
