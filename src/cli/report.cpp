#include "cli/report.h"

#include <algorithm>
#include <map>
#include <system_error>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/client.h"
#include "cli/fill.h"
#include "cli/text.h"
#include "store/store_rows.h"
#include "support/terminal.h"
#include "view/problem_json.h"

namespace ebb::cli {

namespace {

std::string_view line_of(std::string_view text, int number) {
    for (int line = 1; line < number; ++line) {
        const std::size_t end = text.find('\n');
        if (end == std::string_view::npos) return {};
        text.remove_prefix(end + 1);
    }
    text = text.substr(0, text.find('\n'));
    if (text.ends_with('\r')) text.remove_suffix(1);
    return text;
}

/// Characters, not bytes: the column counts what an editor counts.
std::string blanks_up_to(std::string_view line, int column) {
    std::string blanks;
    int at = 1;
    for (const char c : line) {
        if (at >= column) break;
        const bool continues = (static_cast<unsigned char>(c) & 0xC0U) == 0x80U;
        if (continues) continue;
        blanks += c == '\t' ? '\t' : ' ';
        ++at;
    }
    return blanks;
}

std::vector<WorkflowRow> registered_workflows(Session& session) {
    const bool is_local = session.connected()->engine() != nullptr;
    if (!is_local) return session.connected()->workflows().rows;
    // Without the counts of instances, which would take their time in a large database.
    return session.shared_store("workflows", OpenMode::MustExist).list_workflows();
}

/// What says more of a workflow that was not found than which command lists them all; empty if
/// nothing does.
std::string hint_of_workflow(Session& session, std::string_view message) {
    const std::size_t open = message.find('"');
    const std::size_t close = message.find('"', open + 1);
    if (session.connected() == nullptr || close == std::string_view::npos) return {};
    std::map<std::string, int> newest;
    try {
        for (const WorkflowRow& row : registered_workflows(session)) {
            if (is_system_workflow(row.name)) continue;
            int& version = newest[row.name];
            version = std::max(version, row.version);
        }
    } catch (const Error&) {
        return {};
    }
    std::vector<std::string> names;
    for (const auto& [name, version] : newest) names.push_back(name);
    const std::string name(message.substr(open + 1, close - open - 1));
    if (const auto known = newest.find(name); known != newest.end()) {
        return fmt::format("the newest version of \"{}\" is {}", name, known->second);
    }
    const std::string meant = closest(name, names);
    return meant.empty() ? "" : fmt::format("did you mean \"{}\"?", meant);
}

std::string hint_for(Session& session, const Error& error) {
    std::string hint;
    if (error.code() == ErrorCode::WorkflowNotFound) hint = hint_of_workflow(session, error.what());
    return hint.empty() ? hint_of(error.code(), error.what()) : hint;
}

void print_json_error(Session& session, const nlohmann::ordered_json& json) {
    const auto replace = nlohmann::ordered_json::error_handler_t::replace;
    session.streams().err.write(terminal_json(json.dump(-1, ' ', false, replace)) + "\n");
}

}  // namespace

std::string diagnostic_text(
    const DefinitionFile& file, const Diagnostic& problem, const Style& style
) {
    const std::string place =
        problem.line > 0
            ? fmt::format("{}:{}:{}", terminal_line(file.path), problem.line, problem.column)
            : terminal_line(
                  problem.path.empty() ? file.path : fmt::format("{}:{}", file.path, problem.path)
              );
    const bool is_warning = problem.severity == Diagnostic::Severity::Warning;
    const Style::Color color = is_warning ? Style::Color::Yellow : Style::Color::Red;
    std::string text = fmt::format(
        "{}: {} {} {}\n",
        style.bold(place),
        style.paint(color, is_warning ? "warning:" : "error:"),
        one_line(problem.message),
        style.dim(fmt::format("({})", problem.code))
    );
    if (problem.line <= 0) return text;
    const std::string line = terminal_text(line_of(file.text, problem.line));
    const std::string number = std::to_string(problem.line);
    text += fmt::format("{:>5} | {}\n", number, line);
    text +=
        fmt::format("      | {}{}\n", blanks_up_to(line, problem.column), style.paint(color, "^"));
    for (const Diagnostic::Related& related : problem.related) {
        if (related.range.line <= 0) continue;
        text += fmt::format(
            "{}:{}:{}: note: {}\n",
            terminal_line(file.path),
            related.range.line,
            related.range.column,
            one_line(related.message)
        );
    }
    return text;
}

int complain(Session& session, const Complaint& complaint) {
    if (session.options().is_json) {
        nlohmann::ordered_json json = {
            {"error", {{"code", complaint.code}, {"message", complaint.message}}}
        };
        if (!complaint.hint.empty()) json["error"]["hint"] = complaint.hint;
        print_json_error(session, json);
        return complaint.exit_code;
    }
    const Style& style = session.err();
    std::string text = fmt::format(
        "{} {} {}\n",
        style.paint(Style::Color::Red, "ebb:"),
        style.dim(fmt::format("{}:", complaint.code)),
        terminal_text(complaint.message)
    );
    if (!complaint.hint.empty()) {
        text += fmt::format("{} {}\n", style.dim("hint:"), terminal_text(complaint.hint));
    }
    session.streams().err.write(fill(text, session.streams().err));
    return complaint.exit_code;
}

int report_invalid_file(Session& session, const DefinitionFile& file) {
    if (session.options().is_json) {
        nlohmann::ordered_json json = {
            {"error",
             {{"code", to_string(ErrorCode::InvalidDefinition)},
              {"message", fmt::format("{} is not a valid workflow.", file.path)},
              {"file", file.path},
              {"problems", view::problems_json(file.problems)}}}
        };
        print_json_error(session, json);
        return kUsage;
    }
    std::string text;
    for (const Diagnostic& problem : file.problems) {
        text += diagnostic_text(file, problem, session.err());
    }
    session.streams().err.write(fill(text, session.streams().err));
    const std::string message = fmt::format(
        "{} has {} problem{}.",
        file.path,
        file.problems.size(),
        file.problems.size() == 1 ? "" : "s"
    );
    return complain(
        session,
        {.exit_code = kUsage,
         .code = to_string(ErrorCode::InvalidDefinition),
         .message = message,
         .hint = {}}
    );
}

int report_failure(Session& session, std::exception_ptr failure) {
    try {
        std::rethrow_exception(std::move(failure));
    } catch (const OutputClosed&) {
        return kOutputClosed;
    } catch (const InvalidDefinitionFile& invalid) {
        return report_invalid_file(session, invalid.file);
    } catch (const Error& error) {
        const std::string hint = hint_for(session, error);
        return complain(
            session,
            {.exit_code = exit_code_of(error.code()),
             .code = to_string(error.code()),
             .message = error.what(),
             .hint = hint}
        );
    } catch (const std::system_error& error) {
        return complain(
            session, {.exit_code = kOutput, .code = "output", .message = error.what(), .hint = {}}
        );
    } catch (const std::exception& error) {
        const std::string hint = hint_of(ErrorCode::Internal);
        return complain(
            session,
            {.exit_code = kInternal,
             .code = to_string(ErrorCode::Internal),
             .message = error.what(),
             .hint = hint}
        );
    }
}

}  // namespace ebb::cli
