#include "cli/problem_formats.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <string_view>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/text.h"
#include "support/sha256.h"
#include "view/problem_json.h"

namespace ebb::cli {

namespace {

using nlohmann::ordered_json;

bool is_warning(const Diagnostic& problem) {
    return problem.severity == Diagnostic::Severity::Warning;
}

/// Stays the same when lines move.
std::string fingerprint(const CheckedFile& file, const Diagnostic& problem, int repetition) {
    return sha256_hex(fmt::format(
        "{}\n{}\n{}\n{}\n{}", problem.code, problem.path, file.workflow, file.path, repetition
    ));
}

/// Of a workflow command: `value` is a property, which has two more special characters.
std::string github_text(std::string_view text, bool is_property) {
    std::string escaped;
    for (const char c : text) {
        const bool is_special =
            c == '%' || c == '\r' || c == '\n' || (is_property && (c == ':' || c == ','));
        if (is_special) {
            escaped += fmt::format("%{:02X}", static_cast<unsigned char>(c));
        } else {
            escaped += c;
        }
    }
    return escaped;
}

/// The services name files from the root of the repository, without a `./`.
std::string_view from_root(std::string_view path) {
    while (path.starts_with("./")) path.remove_prefix(2);
    return path;
}

std::string github_line(const CheckedFile& file, const Diagnostic& problem) {
    std::string place = fmt::format("file={}", github_text(one_line(from_root(file.path)), true));
    if (problem.line > 0) {
        place += fmt::format(",line={}", problem.line);
        if (problem.end_line > 0) place += fmt::format(",endLine={}", problem.end_line);
        // GitHub knows columns of one line only, and its ends are inclusive.
        const bool is_one_line = problem.end_line == 0 || problem.end_line == problem.line;
        if (is_one_line) place += fmt::format(",col={}", problem.column);
        if (is_one_line && problem.end_column > problem.column) {
            place += fmt::format(",endColumn={}", problem.end_column - 1);
        }
    }
    return fmt::format(
        "::{} {},title={}::{}\n",
        is_warning(problem) ? "warning" : "error",
        place,
        github_text(problem.code, true),
        github_text(problem.message, false)
    );
}

/// A path as a relative URI reference.
std::string uri_of(std::string_view path) {
    constexpr std::string_view kPlain = "-._~/";
    path = from_root(path);
    std::string uri = path.starts_with('/') ? "file://" : "";
    for (const char c : path) {
        const auto byte = static_cast<unsigned char>(c);
        const bool is_plain =
            (byte < 0x80 && std::isalnum(byte) != 0) || kPlain.find(c) != std::string_view::npos;
        uri += is_plain ? std::string(1, c) : fmt::format("%{:02X}", byte);
    }
    return uri;
}

ordered_json region_json(const SourceRange& range) {
    ordered_json region = {{"startLine", range.line}, {"startColumn", range.column}};
    if (range.end_line > 0) {
        region["endLine"] = range.end_line;
        region["endColumn"] = range.end_column;
    }
    return region;
}

SourceRange range_of(const Diagnostic& problem) {
    return {problem.line, problem.column, problem.end_line, problem.end_column};
}

ordered_json location_json(const std::string& uri, const SourceRange& range) {
    ordered_json physical = {{"artifactLocation", {{"uri", uri}}}};
    if (range.line > 0) physical["region"] = region_json(range);
    return {{"physicalLocation", std::move(physical)}};
}

ordered_json fix_json(const std::string& uri, const Diagnostic::Fix& fix) {
    ordered_json replacement = {
        {"deletedRegion", region_json(fix.range)}, {"insertedContent", {{"text", fix.replacement}}}
    };
    ordered_json change = {
        {"artifactLocation", {{"uri", uri}}},
        {"replacements", ordered_json::array({std::move(replacement)})}
    };
    return {
        {"description", {{"text", fix.title}}},
        {"artifactChanges", ordered_json::array({std::move(change)})}
    };
}

/// `unknown_key` as `Unknown key`.
std::string title_of(std::string_view code) {
    std::string title(code);
    std::replace(title.begin(), title.end(), '_', ' ');
    if (!title.empty() && title[0] >= 'a' && title[0] <= 'z') {
        title[0] = static_cast<char>(title[0] - 'a' + 'A');
    }
    return title;
}

class SarifReport {
 public:
    ordered_json of(std::span<const CheckedFile> files) {
        ordered_json results = ordered_json::array();
        for (const CheckedFile& file : files) {
            std::map<std::string, int> seen;
            for (const Diagnostic& problem : file.problems) {
                const int repetition = seen[problem.code + problem.path]++;
                results.push_back(result(file, problem, repetition));
            }
        }
        ordered_json driver = {
            {"name", "ebb"}, {"semanticVersion", EBB_VERSION}, {"rules", std::move(rules_)}
        };
        ordered_json run = {
            {"tool", {{"driver", std::move(driver)}}},
            {"columnKind", "unicodeCodePoints"},
            {"results", std::move(results)}
        };
        return {
            {"$schema", "https://json.schemastore.org/sarif-2.1.0.json"},
            {"version", "2.1.0"},
            {"runs", ordered_json::array({std::move(run)})}
        };
    }

 private:
    ordered_json rules_ = ordered_json::array();
    std::map<std::string, std::size_t> numbers_;

    std::size_t rule(const std::string& code) {
        const auto [found, is_new] = numbers_.emplace(code, rules_.size());
        if (is_new) {
            rules_.push_back({{"id", code}, {"shortDescription", {{"text", title_of(code)}}}});
        }
        return found->second;
    }

    ordered_json result(const CheckedFile& file, const Diagnostic& problem, int repetition) {
        const std::string uri = uri_of(file.path);
        ordered_json json = {
            {"ruleId", problem.code},
            {"ruleIndex", rule(problem.code)},
            {"level", is_warning(problem) ? "warning" : "error"},
            {"message", {{"text", problem.message}}},
            {"locations", ordered_json::array({location_json(uri, range_of(problem))})},
            {"partialFingerprints", {{"ebb/v1", fingerprint(file, problem, repetition)}}}
        };
        for (const Diagnostic::Related& related : problem.related) {
            ordered_json location = location_json(uri, related.range);
            location["message"] = {{"text", related.message}};
            json["relatedLocations"].push_back(std::move(location));
        }
        for (const Diagnostic::Fix& fix : problem.fixes) {
            json["fixes"].push_back(fix_json(uri, fix));
        }
        return json;
    }
};

}  // namespace

ordered_json file_json(const CheckedFile& file) {
    const bool is_valid = std::all_of(file.problems.begin(), file.problems.end(), is_warning);
    ordered_json json = {{"file", file.path}, {"valid", is_valid}};
    const bool is_named = is_valid && !file.workflow.empty();
    json["workflow"] = is_named ? ordered_json(file.workflow) : ordered_json(nullptr);
    json["version"] = is_named ? ordered_json(file.version) : ordered_json(nullptr);
    json["problems"] = view::detailed_problems_json(file.problems);
    return json;
}

std::string to_github(std::span<const CheckedFile> files) {
    std::string text;
    std::string rest;
    std::map<bool, std::size_t> shown;
    for (const CheckedFile& file : files) {
        for (const Diagnostic& problem : file.problems) {
            if (++shown[is_warning(problem)] <= kGithubAnnotationsMax) {
                text += github_line(file, problem);
                continue;
            }
            // A file's name must not become a command.
            rest += fmt::format(
                " {}:{}:{}: {} ({})\n",
                one_line(file.path),
                problem.line,
                problem.column,
                one_line(problem.message),
                problem.code
            );
        }
    }
    return text + rest;
}

ordered_json to_sarif(std::span<const CheckedFile> files) {
    return SarifReport().of(files);
}

ordered_json to_gitlab(std::span<const CheckedFile> files) {
    ordered_json report = ordered_json::array();
    for (const CheckedFile& file : files) {
        std::map<std::string, int> seen;
        const std::string_view path = from_root(file.path);
        for (const Diagnostic& problem : file.problems) {
            const int repetition = seen[problem.code + problem.path]++;
            const int begin = std::max(problem.line, 1);
            report.push_back({
                {"description", problem.message},
                {"check_name", problem.code},
                {"fingerprint", fingerprint(file, problem, repetition)},
                {"severity", is_warning(problem) ? "minor" : "major"},
                {"location",
                 {{"path", path},
                  {"lines", {{"begin", begin}, {"end", std::max(problem.end_line, begin)}}}}},
            });
        }
    }
    return report;
}

}  // namespace ebb::cli
