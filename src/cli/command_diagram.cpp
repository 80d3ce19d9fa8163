#include <memory>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <ebb/diagram.h>

#include "cli/commands.h"
#include "cli/compare_commands.h"
#include "cli/cpp_file.h"
#include "cli/definition_file.h"
#include "cli/instance_ref.h"
#include "cli/output_file.h"
#include "cli/picture.h"
#include "cli/report.h"
#include "cli/text.h"

namespace ebb::cli {

namespace {

struct Picture {
    Definition definition;
    DiagramOptions options;
    diagram::Notes notes{};
    DefinitionFile file{};  ///< of a picture of a file, with its problems
};

Picture picture_of(Session& session, const std::string& subject) {
    if (names_cpp_file(subject)) {
        CppDefinition found = read_cpp_workflow(subject);
        return {found.file.definition, {}, source::notes_of(found.workflow), std::move(found.file)};
    }
    if (names_file(subject)) {
        DefinitionFile file = read_definition_file(subject, session);
        // What could be read of an invalid file is drawn, too; without any node there is no
        // picture.
        const bool is_empty = file.definition.steps.empty() && !file.definition.rules;
        if (!file.problems.empty() && is_empty) throw InvalidDefinitionFile{std::move(file)};
        return {file.definition, {}, {}, std::move(file)};
    }
    if (names_version(subject) || !may_name_instance(subject)) {
        return {read_registered(session, "diagram", subject), {}};
    }
    Client& engine = session.connect("diagram");
    const InstanceView view = engine.show(resolve_instance(engine, subject));
    const auto definition = engine.definition(view.summary.workflow, view.summary.version);
    return {*definition, {.marks = marks_of(view)}};
}

}  // namespace

int draw_diagram(Session& session, const DiagramCommandOptions& options) {
    if (options.subject.empty()) {
        throw Error(
            ErrorCode::InvalidArgument,
            "SUBJECT is missing: name a workflow's file or an instance, or give --embed FILE."
        );
    }
    const std::string format = picture_format("diagram", options.format, options.output);
    const Picture picture = picture_of(session, options.subject);
    const std::string text = draw_picture(
        session,
        {picture.definition, picture.options, picture.notes},
        format,
        options.output.empty()
    );
    if (!options.output.empty()) {
        write_file(options.output, text);
        session.note(fmt::format("Wrote {}\n", one_line(options.output)));
    } else if (session.options().is_json) {
        session.print_json({{"format", format}, {"diagram", text}});
    } else {
        session.print(text);
    }
    if (picture.file.problems.empty()) return kOk;
    return report_invalid_file(session, picture.file);
}

}  // namespace ebb::cli
