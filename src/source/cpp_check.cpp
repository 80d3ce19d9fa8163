// What can be said of a workflow that C++ code builds.

#include <algorithm>
#include <array>
#include <map>

#include <fmt/format.h>

#include "core/diagram/notes.h"
#include "core/model/walk.h"
#include "source/cpp_workflow.h"

namespace ebb::source {

namespace {

/// Problems of one value, which nothing else in the workflow can cause or remove.
constexpr std::array<std::string_view, 5> kLocalCodes = {
    "invalid_expression", "invalid_duration", "invalid_time", "invalid_name", "out_of_range"
};

bool is_inside(std::string_view path, std::string_view outer) {
    return path == outer || (path.starts_with(outer) && path[outer.size()] == '/');
}

/// May an unknown part have caused the problem?
bool depends_on_unknown(const CppWorkflow& workflow, const Diagnostic& problem) {
    const bool is_local =
        std::find(kLocalCodes.begin(), kLocalCodes.end(), problem.code) != kLocalCodes.end();
    if (!is_local) return true;
    return std::any_of(
        workflow.unknown.begin(),
        workflow.unknown.end(),
        [&](const CppUnknown& unknown) {
            return !unknown.path.empty() &&
                   (is_inside(problem.path, unknown.path) || is_inside(unknown.path, problem.path));
        }
    );
}

/// Lines and columns of byte offsets.
class Lines {
 public:
    explicit Lines(std::string_view text) : text_(text) {
        for (std::size_t at = text.find('\n'); at != std::string_view::npos;
             at = text.find('\n', at + 1)) {
            starts_.push_back(at + 1);
        }
    }

    SourceRange range(CppPlace place) const {
        const auto [line, column] = at(place.begin);
        const auto [end_line, end_column] = at(place.end);
        return {line, column, end_line, end_column};
    }

 private:
    std::string_view text_;
    std::vector<std::size_t> starts_{0};

    std::pair<int, int> at(std::size_t offset) const {
        offset = std::min(offset, text_.size());
        const auto line = std::upper_bound(starts_.begin(), starts_.end(), offset) - 1;
        const std::string_view before = text_.substr(*line, offset - *line);
        const auto characters = std::count_if(before.begin(), before.end(), [](char c) {
            return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U;
        });
        return {static_cast<int>(line - starts_.begin()) + 1, static_cast<int>(characters) + 1};
    }
};

/// Which key of the node is unknown: `timeout: kSlow`.
std::string unknown_words(const CppUnknown& unknown, const std::string& node_path) {
    std::string key = unknown.path.substr(std::min(unknown.path.size(), node_path.size()));
    if (!key.empty()) key.erase(0, 1);
    return key.empty() ? unknown.text : key + ": " + unknown.text;
}

/// The node that `path` is said of: the innermost one whose path it begins with.
std::string node_of(std::string path, const std::map<std::string, std::string>& words) {
    while (!path.empty() && !words.contains(path)) {
        path.resize(path.rfind('/') == std::string::npos ? 0 : path.rfind('/'));
    }
    return path;
}

}  // namespace

bool is_cpp_name(std::string_view name) {
    constexpr std::array<std::string_view, 8> kEndings = {
        ".cpp", ".cc", ".cxx", ".c++", ".hpp", ".hh", ".h", ".ipp"
    };
    return std::any_of(kEndings.begin(), kEndings.end(), [&](std::string_view ending) {
        return name.ends_with(ending);
    });
}

diagram::Notes notes_of(const CppWorkflow& workflow) {
    diagram::Notes notes;
    if (workflow.is_exact()) return notes;
    const model::Walk walk(workflow.definition);
    std::map<std::string, std::string> words;  // by path
    for (const model::Placed& placed : walk.nodes()) {
        const auto frame = workflow.frames.find(placed.path);
        words[placed.path] = frame == workflow.frames.end() ? "" : frame->second;
    }
    for (const CppUnknown& unknown : workflow.unknown) {
        const std::string path = node_of(unknown.path, words);
        if (path.empty()) continue;
        std::string& text = words[path];
        text += (text.empty() ? "" : " · ") + unknown_words(unknown, path);
    }
    for (const model::Placed& placed : walk.nodes()) {
        std::string& text = words[placed.path];
        if (text.empty()) continue;
        notes.nodes[placed.node->name] = {diagram::Note::Kind::Dynamic, std::move(text)};
    }
    const std::size_t parts = workflow.unknown.size() + workflow.frames.size();
    notes.headline =
        fmt::format("{} part{} decided when the program runs", parts, parts == 1 ? " is" : "s are");
    return notes;
}

std::vector<Diagnostic> check_cpp(
    const CppWorkflow& workflow, std::string_view text, const std::string& file
) {
    std::vector<Diagnostic> problems = validate(workflow.definition);
    if (!workflow.is_exact()) {
        std::erase_if(problems, [&](const Diagnostic& problem) {
            return depends_on_unknown(workflow, problem);
        });
    }
    if (problems.empty()) return problems;
    const Lines lines(text);
    for (Diagnostic& problem : problems) {
        const SourceRange range = lines.range(workflow.place_of(problem.path));
        problem.file = file;
        problem.line = range.line;
        problem.column = range.column;
        problem.end_line = range.end_line;
        problem.end_column = range.end_column;
        problem.fixes.clear();  // they are edits of YAML
        for (Diagnostic::Related& related : problem.related) {
            related.range = lines.range(workflow.place_of(related.path));
        }
    }
    return problems;
}

}  // namespace ebb::source
