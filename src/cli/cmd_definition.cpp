#include <exception>
#include <fstream>
#include <map>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <ebb/diagram.h>
#include <ebb/handlers.h>

#include "cli/commands.h"
#include "store/store.h"
#include "support/json.h"

namespace ebb::cli {

namespace {

std::string source_line(const std::string& text, int line) {
    std::size_t at = 0;
    for (int i = 1; i < line && at != std::string::npos; ++i) {
        at = text.find('\n', at);
        if (at != std::string::npos) ++at;
    }
    if (at == std::string::npos || line < 1) return {};
    return text.substr(at, text.find('\n', at) - at);
}

/// `file:line:column: error: message` with the source line and a caret, as compilers do.
std::string render(
    const Terminal& terminal, const std::string& file, const std::string& text, const Diagnostic& d
) {
    const std::string place = d.line > 0
                                  ? fmt::format("{}:{}:{}", file, d.line, d.column)
                                  : fmt::format("{}: {}", file, d.path.empty() ? "/" : d.path);
    std::string out = fmt::format(
        "{}: {} {} ({})\n",
        terminal.paint_err(Color::Bold, place),
        terminal.paint_err(Color::Red, "error:"),
        d.message,
        d.code
    );
    const std::string line = source_line(text, d.line);
    if (!line.empty()) {
        const auto indent = static_cast<std::size_t>(std::max(d.column - 1, 0));
        out += fmt::format(
            "  {}\n  {}{}\n", line, std::string(indent, ' '), terminal.paint_err(Color::Red, "^")
        );
    }
    return out;
}

Json diagnostic_json(const std::string& file, const Diagnostic& d) {
    return {
        {"file", file},
        {"line", d.line},
        {"column", d.column},
        {"path", d.path},
        {"code", d.code},
        {"message", d.message}
    };
}

std::string read_text(const std::string& file) {
    std::ifstream stream(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
}

std::vector<Diagnostic> problems_of(const std::string& file, Definition& definition) {
    std::vector<Diagnostic> problems;
    try {
        definition = load_workflow(file).definition;
        for (const auto& [name, spec] : definition.handlers) {
            for (Diagnostic& d : validate_handler_spec(name, spec))
                problems.push_back(std::move(d));
        }
    } catch (const DefinitionError& error) {
        problems = error.diagnostics();
    }
    return problems;
}

}  // namespace

int validate_files(Context& context, const std::vector<std::string>& files) {
    Terminal& terminal = context.terminal;
    Json report = Json::array();
    int code = kOk;
    for (const std::string& file : files) {
        Definition definition;
        const auto problems = problems_of(file, definition);
        const std::string text = problems.empty() ? std::string() : read_text(file);
        for (const Diagnostic& d : problems) {
            code = kUsage;
            if (context.options.json) {
                report.push_back(diagnostic_json(file, d));
            } else {
                terminal.err(render(terminal, file, text, d));
            }
        }
        if (problems.empty() && !context.options.json) {
            terminal.out(fmt::format(
                "{}: {} v{} is valid\n{}",
                file,
                definition.name,
                definition.version,
                to_text(definition)
            ));
        }
        if (!problems.empty() && !context.options.json) {
            terminal.err(fmt::format(
                "{}: {} error{}\n", file, problems.size(), problems.size() == 1 ? "" : "s"
            ));
        }
    }
    if (context.options.json) terminal.out(to_text(report) + "\n");
    return code;
}

namespace {

std::string draw(
    const Definition& definition, const std::string& format, const DiagramOptions& options
) {
    if (format == "dot") return to_dot(definition, options);
    if (format == "svg") return to_svg(definition, options);
    if (format == "text") return to_text(definition, options);
    return to_mermaid(definition, options);
}

StepMark::State mark_state(StepStatus status) {
    // Both enums name the same states in the same order.
    return static_cast<StepMark::State>(status);
}

std::map<std::string, StepMark> marks_of(const InstanceView& view) {
    std::map<std::string, StepMark> marks;
    for (const StepView& step : view.steps) {
        marks[step.node] = {
            .state = mark_state(step.status), .attempts = step.attempts, .note = {}
        };
    }
    return marks;
}

}  // namespace

int diagram(Context& context, const DiagramCommandOptions& options) {
    std::string picture;
    if (is_definition_file(options.subject)) {
        picture = draw(load_workflow(options.subject).definition, options.format, {});
    } else {
        HandlerRegistry handlers;
        const StorePtr store = open_kept_store(context, "diagram");
        Engine engine(*store, handlers);
        const InstanceView view = engine.show(resolve_instance(engine, options.subject));
        const auto definition = engine.definition(view.summary.workflow, view.summary.version);
        const auto marks = marks_of(view);
        picture = draw(*definition, options.format, {.marks = marks});
    }
    if (options.output.empty()) {
        context.terminal.out(picture);
        return kOk;
    }
    std::ofstream file(options.output, std::ios::binary);
    file << picture;
    file.flush();
    if (!file)
        throw Error(
            ErrorCode::InvalidArgument, fmt::format("Cannot write \"{}\".", options.output)
        );
    return kOk;
}

namespace {

int exit_code_of(ErrorCode code) {
    switch (code) {
        case ErrorCode::InvalidArgument:
        case ErrorCode::InvalidDefinition:
        case ErrorCode::InvalidPayload:
        case ErrorCode::PayloadTooLarge:
        case ErrorCode::HandlerNotFound:
        case ErrorCode::LimitExceeded:
        case ErrorCode::WorkflowConflict:
            return kUsage;
        case ErrorCode::WorkflowNotFound:
        case ErrorCode::InstanceNotFound:
            return kNotFound;
        case ErrorCode::InvalidState:
        case ErrorCode::NotWaiting:
        case ErrorCode::NotAllowed:
            return kRefused;
        case ErrorCode::StoreUnavailable:
        case ErrorCode::StoreReadOnly:
        case ErrorCode::StoreFull:
        case ErrorCode::StoreBusy:
        case ErrorCode::StoreVersion:
        case ErrorCode::StoreInDoubt:
        case ErrorCode::StoreError:
        case ErrorCode::CorruptState:
            return kStoreUnavailable;
        case ErrorCode::Internal:
            return kInternal;
    }
    return kInternal;
}

int complain(Context& context, int code, std::string_view name, std::string_view message) {
    if (context.options.json) {
        context.terminal.err(to_text({{"error", {{"code", name}, {"message", message}}}}) + "\n");
    } else {
        context.terminal.err(fmt::format(
            "{} {} ({})\n", context.terminal.paint_err(Color::Red, "ebb:"), message, name
        ));
    }
    return code;
}

}  // namespace

int report_failure(Context& context, std::exception_ptr failure) {
    try {
        std::rethrow_exception(std::move(failure));
    } catch (const UsageError& error) {
        return complain(context, kUsage, "usage", error.message);
    } catch (const Error& error) {
        return complain(context, exit_code_of(error.code()), to_string(error.code()), error.what());
    } catch (const std::exception& error) {
        return complain(context, kInternal, "internal", error.what());
    }
}

}  // namespace ebb::cli
