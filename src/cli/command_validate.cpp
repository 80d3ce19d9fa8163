#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

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

TextStyle text_style(const Session& session) {
    const Style& style = session.out();
    return {
        .charset = style.has_unicode() ? TextStyle::Charset::Unicode : TextStyle::Charset::Ascii,
        .colors = style.has_colors() ? TextStyle::Colors::Ansi : TextStyle::Colors::None,
        .columns = session.columns(),
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
        session.print(to_text(file.definition, {}, text_style(session)));
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

class Validation {
 public:
    Validation(Session& session, const ValidateOptions& options)
        : session_(session),
          options_(options),
          format_(format_of(session, options)),
          config_(read_current_config()) {}

    int run() {
        for (const WorkflowFile& found : find_workflow_files(arguments_of(session_, options_))) {
            if (found.is_found && is_excluded(config_, found.path)) continue;
            if (!found.problem.empty()) {
                note_unreadable(found.path, Error(ErrorCode::InvalidArgument, found.problem));
            } else if (names_cpp_file(found.path)) {
                check_cpp(found);
            } else {
                check(found);
            }
        }
        if (format_ != "text") {
            print_report(session_, format_, reports_);
        } else if (problems_ > 0) {
            session_.note(fmt::format("{} problem{}\n", problems_, problems_ == 1 ? "" : "s"));
        }
        return is_well_ ? kOk : kUsage;
    }

 private:
    Session& session_;
    const ValidateOptions& options_;
    const std::string format_;
    const source::WorkspaceConfig config_;
    std::vector<CheckedFile> reports_;
    std::size_t problems_ = 0;
    bool is_well_ = true;
    std::unique_ptr<HandlerLint> handlers_;
    // It reads the code of the folder once, and only if there is a file.
    bool is_lint_made_ = false;

    /// The other files are checked nevertheless.
    void note_unreadable(const std::string& path, const Error& error) {
        DefinitionFile file{.path = path};
        file.problems = {
            {.code = std::string(to_string(error.code())), .path = {}, .message = error.what()}
        };
        report(file, false);
    }

    void report(const DefinitionFile& file, bool is_drawn) {
        problems_ += file.problems.size();
        is_well_ = is_well_ && is_valid(file);
        if (format_ == "text") {
            tell(session_, file, is_drawn);
        } else {
            reports_.push_back(report_of(file));
        }
    }

    void check(const WorkflowFile& found) {
        DefinitionFile read;
        try {
            read = read_text_of(found.path, session_);
        } catch (const Error& error) {
            return note_unreadable(found.path, error);
        }
        const bool is_optional = found.is_found || options_.if_workflow;
        auto file = check_definition_file(
            std::move(read),
            session_,
            {.with_lints = options_.with_lints, .only_workflows = is_optional}
        );
        if (!file) return;
        if (options_.with_lints) {
            if (!is_lint_made_) handlers_ = make_handler_lint(session_);
            is_lint_made_ = true;
            if (handlers_) handlers_->judge(*file);
        }
        report(*file, !is_optional);
    }

    void check_cpp(const WorkflowFile& found) {
        std::vector<CppDefinition> workflows;
        try {
            workflows = read_cpp_file(found.path);
        } catch (const Error& error) {
            return note_unreadable(found.path, error);
        }
        // A person who names a file learns that nothing was checked.
        if (!found.is_found && !options_.if_workflow && format_ == "text") {
            const std::string path = one_line(found.path);
            if (builds_rules(found.path)) {
                session_.note(fmt::format("{}: {}\n", path, source::kRulesAreNotRead));
            } else if (workflows.empty()) {
                session_.note(fmt::format("{} builds no workflow.\n", path));
            }
        }
        for (const CppDefinition& one : workflows) {
            problems_ += one.file.problems.size();
            is_well_ = is_well_ && one.file.problems.empty();
            if (format_ == "text") {
                tell_cpp(session_, one);
            } else {
                reports_.push_back(report_of(one.file));
            }
        }
    }
};

}  // namespace

int validate_files(Session& session, const ValidateOptions& options) {
    return Validation(session, options).run();
}

}  // namespace ebb::cli
