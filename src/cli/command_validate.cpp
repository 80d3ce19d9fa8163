#include <algorithm>
#include <optional>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <ebb/diagram.h>

#include "cli/commands.h"
#include "cli/cpp_file.h"
#include "cli/current_config.h"
#include "cli/fill.h"
#include "cli/handler_lint.h"
#include "cli/payload_argument.h"
#include "cli/problem_formats.h"
#include "cli/report.h"
#include "cli/text.h"
#include "cli/workflow_files.h"
#include "source/workflow_text.h"

namespace ebb::cli {

namespace {

constexpr std::size_t kFileListBytesMax = std::size_t{16} << 20;

TextStyle text_style(const Style& style) {
    return {
        .charset = style.has_unicode() ? TextStyle::Charset::Unicode : TextStyle::Charset::Ascii,
        .colors = style.has_colors() ? TextStyle::Colors::Ansi : TextStyle::Colors::None,
    };
}

bool is_valid(const DefinitionFile& file) {
    return std::all_of(file.problems.begin(), file.problems.end(), [](const Diagnostic& problem) {
        return problem.severity == Diagnostic::Severity::Warning;
    });
}

void tell(Session& session, const DefinitionFile& file, bool is_drawn) {
    std::string text;
    for (const Diagnostic& problem : file.problems) {
        text += diagnostic_text(file, problem, session.err());
    }
    session.streams().err.write(fill(text, session.streams().err));
    if (!is_valid(file)) return;
    const Style& style = session.out();
    const std::string done = style.paint(Style::Color::Green, style.glyphs().done);
    if (file.holds_types) return session.print(fmt::format("{} {} is valid\n", done, file.path));
    session.print(fmt::format(
        "{} {}: {} v{} is valid\n", done, file.path, file.definition.name, file.definition.version
    ));
    if (is_drawn && !session.options().is_quiet) {
        session.print(to_text(file.definition, {}, text_style(style)));
    }
}

void tell_cpp(Session& session, const CppDefinition& found) {
    std::string text;
    for (const Diagnostic& problem : found.file.problems) {
        text += diagnostic_text(found.file, problem, session.err());
    }
    session.streams().err.write(fill(text, session.streams().err));
    const auto withheld = source::withheld_problems(found.workflow, found.file.text);
    if (withheld.count > 0) {
        session.note(fmt::format(
            "{}:{}: {} possible problem{} of {} {} not reported, because {} on what only the "
            "program knows, first in this line.\n",
            one_line(found.file.path),
            withheld.line,
            withheld.count,
            withheld.count == 1 ? "" : "s",
            one_line(found.file.definition.name),
            withheld.count == 1 ? "is" : "are",
            withheld.count == 1 ? "it depends" : "they depend"
        ));
    }
    if (!text.empty()) return;
    const Style& style = session.out();
    session.print(fmt::format(
        "{} {}: {} v{} has no problem ({})\n",
        style.paint(Style::Color::Green, style.glyphs().done),
        one_line(found.file.path),
        one_line(found.file.definition.name),
        found.file.definition.version,
        exactness(found.workflow)
    ));
}

std::vector<std::string> arguments_of(Session& session, const ValidateOptions& options) {
    std::vector<std::string> arguments = options.files;
    if (!options.files_from.empty()) {
        const std::string list = options.files_from == "-"
                                     ? session.streams().read_input()
                                     : read_file(options.files_from, kFileListBytesMax);
        for (std::string& name : split_file_list(list)) arguments.push_back(std::move(name));
    } else if (arguments.empty()) {
        throw Error(
            ErrorCode::InvalidArgument,
            "`ebb validate` needs a file: give its name, a folder, a pattern, or --files-from."
        );
    }
    return arguments;
}

CheckedFile report_of(const DefinitionFile& file) {
    return {
        .path = file.path,
        .workflow = file.definition.name,
        .version = file.definition.version,
        .problems = file.problems,
    };
}

/// Returns how many problems the file of C++ has.
std::size_t check_cpp_file(
    Session& session,
    const WorkflowFile& file,
    const std::string& format,
    std::vector<CheckedFile>& reports
) {
    std::size_t problems = 0;
    const std::vector<CppDefinition> workflows = read_cpp_file(file.path);
    // A person who names a file learns that nothing was checked.
    if (!file.is_found && format == "text") {
        const std::string path = one_line(file.path);
        if (builds_rules(file.path)) {
            session.note(fmt::format("{}: {}\n", path, source::kRulesAreNotRead));
        } else if (workflows.empty()) {
            session.note(fmt::format("{} builds no workflow.\n", path));
        }
    }
    for (const CppDefinition& found : workflows) {
        problems += found.file.problems.size();
        if (format == "text") {
            tell_cpp(session, found);
        } else {
            reports.push_back(report_of(found.file));
        }
    }
    return problems;
}

void print_report(
    Session& session, const std::string& format, const std::vector<CheckedFile>& files
) {
    if (format == "github") return session.print(to_github(files));
    if (format == "sarif") return session.print_json(to_sarif(files));
    if (format == "gitlab") return session.print_json(to_gitlab(files));
    nlohmann::ordered_json report = nlohmann::ordered_json::array();
    for (const CheckedFile& file : files) report.push_back(file_json(file));
    session.print_json(report);
}

std::string format_of(const Session& session, const ValidateOptions& options) {
    if (!options.format.empty()) return options.format;
    return session.options().is_json ? "json" : "text";
}

}  // namespace

int validate_files(Session& session, const ValidateOptions& options) {
    const std::string format = format_of(session, options);
    std::vector<CheckedFile> reports;
    std::size_t problems = 0;
    bool is_well = true;
    std::unique_ptr<HandlerLint> handlers;
    // It reads the code of the folder once, and only if there is a file.
    bool is_lint_made = false;
    const source::WorkspaceConfig config = read_current_config();
    for (const WorkflowFile& found : find_workflow_files(arguments_of(session, options))) {
        if (found.is_found && is_excluded(config, found.path)) continue;
        if (names_cpp_file(found.path)) {
            const WorkflowFile code{found.path, found.is_found || options.if_workflow};
            const std::size_t count = check_cpp_file(session, code, format, reports);
            problems += count;
            is_well = is_well && count == 0;
            continue;
        }
        const bool is_optional = found.is_found || options.if_workflow;
        auto file = check_definition_file(
            found.path, session, {.with_lints = options.with_lints, .only_workflows = is_optional}
        );
        if (!file) continue;
        if (options.with_lints) {
            if (!is_lint_made) handlers = make_handler_lint(session);
            is_lint_made = true;
            if (handlers) handlers->judge(*file);
        }
        problems += file->problems.size();
        is_well = is_well && is_valid(*file);
        if (format == "text") {
            tell(session, *file, !is_optional);
        } else {
            reports.push_back(report_of(*file));
        }
    }
    if (format != "text") {
        print_report(session, format, reports);
    } else if (problems > 0) {
        session.note(fmt::format("{} problem{}\n", problems, problems == 1 ? "" : "s"));
    }
    return is_well ? kOk : kUsage;
}

}  // namespace ebb::cli
