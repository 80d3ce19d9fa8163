#include "core/model/check_expressions.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "core/model/words.h"
#include "support/json.h"

namespace ebb::model {

namespace {

constexpr std::array<std::string_view, 7> kVariables = {
    "input", "workflow", "steps", "instance", "attempt", "now", "metadata"
};

class NoVariables : public Variables {
 public:
    const Json* find(std::string_view) const override { return nullptr; }

    const Json* find_step(std::string_view) const override { return nullptr; }
};

bool has_output(const Node& node) {
    return !std::holds_alternative<Condition>(node.kind) &&
           !std::holds_alternative<Switch>(node.kind) &&
           !std::holds_alternative<Savepoint>(node.kind) &&
           !std::holds_alternative<NodeGraph>(node.kind) &&
           !std::holds_alternative<Fail>(node.kind);
}

}  // namespace

ExpressionChecker::ExpressionChecker(Findings& findings, const Walk& walk)
    : findings_(findings), walk_(walk) {
    for (const Placed& placed : walk.nodes()) {
        names_.push_back(placed.node->name);
        const auto* savepoint = std::get_if<Savepoint>(&placed.node->kind);
        if (savepoint != nullptr && savepoint->on_rollback == Savepoint::OnRollback::Resume) {
            can_resume_ = true;
        }
    }
}

void ExpressionChecker::note_error(const std::string& path, const ExpressionError& error) {
    findings_.note({
        .diagnostic =
            {.code = "invalid_expression",
             .path = path,
             .message = fmt::format(
                 "{} (Line {}, column {} of the expression {}.)",
                 error.message(),
                 error.line(),
                 error.column(),
                 in_quotes(error.source())
             )},
        .expression = error.source(),
        .line = error.line(),
        .column = error.column(),
    });
}

std::optional<bool> ExpressionChecker::condition(
    int reader, const std::string& path, const std::string& source
) {
    if (source.empty()) {
        findings_.note(
            "missing_expression",
            path,
            "An expression that yields true or false is needed here, such as `input.amount > 100`."
        );
        return std::nullopt;
    }
    if (source.starts_with("${")) {
        findings_.note(
            "invalid_expression",
            path,
            "This key takes an expression without ${ }: remove the ${ } around it."
        );
        return std::nullopt;
    }
    try {
        const Expression expression = Expression::compile(source);
        if (expression.variables_read().empty()) return expression.evaluate_bool(NoVariables());
        check_reads(reader, path, {expression.steps_read(), expression.variables_read(), false});
    } catch (const ExpressionError& error) {
        note_error(path, error);
    }
    return std::nullopt;
}

void ExpressionChecker::value(int reader, const std::string& path, const std::string& source) {
    unconditional(reader, path, source, false);
}

void ExpressionChecker::handle(int reader, const std::string& path, const std::string& source) {
    unconditional(reader, path, source, true);
}

void ExpressionChecker::unconditional(
    int reader, const std::string& path, const std::string& source, bool is_after_step
) {
    if (source.starts_with("${")) {
        findings_.note(
            "invalid_expression",
            path,
            "This key takes an expression without ${ }: remove the ${ } around it."
        );
        return;
    }
    try {
        const Expression expression = Expression::compile(source);
        check_reads(
            reader,
            path,
            {.steps = expression.steps_read(),
             .variables = expression.variables_read(),
             .is_after_step = is_after_step}
        );
    } catch (const ExpressionError& error) {
        note_error(path, error);
    }
}

bool ExpressionChecker::text(int reader, const std::string& path, const std::string& source) {
    try {
        const Template compiled = Template::compile_text(source);
        check_reads(reader, path, {compiled.steps_read(), compiled.variables_read(), false});
        return compiled.is_constant();
    } catch (const ExpressionError& error) {
        note_error(path, error);
        return false;
    }
}

void ExpressionChecker::payload(int reader, const std::string& path, const Payload& payload) {
    if (payload.empty()) return;
    const PayloadLimits limits{
        .payload_bytes_max = DefinitionLimits::kDefinitionBytesMax,
        .json_depth_max = DefinitionLimits::kPayloadDepthMax,
    };
    try {
        strings(reader, path, parse_json(payload, "It", limits));
    } catch (const ExpressionError&) {
        throw;
    } catch (const Error& error) {
        findings_.note("invalid_payload", path, error.what());
    }
}

void ExpressionChecker::strings(int reader, const std::string& path, const Json& value) {
    if (value.is_string()) {
        text(reader, path, value.get_ref<const std::string&>());
    } else if (value.is_array()) {
        for (std::size_t i = 0; i < value.size(); ++i) {
            strings(reader, fmt::format("{}/{}", path, i), value[i]);
        }
    } else if (value.is_object()) {
        for (const auto& [key, inner] : value.items()) {
            strings(reader, path + "/" + escape_pointer(key), inner);
        }
    }
}

void ExpressionChecker::check_reads(int reader, const std::string& path, const Reads& reads) {
    for (const std::string& name : reads.variables) {
        if (std::find(kVariables.begin(), kVariables.end(), name) != kVariables.end()) continue;
        if (reads.is_after_step && name == "output") continue;
        findings_.note(
            "unknown_variable",
            path,
            fmt::format("There is no variable {}.{}", in_quotes(name), hint(name, kVariables))
        );
    }
    for (const std::string& name : reads.steps) check_step(reader, path, name);
}

void ExpressionChecker::check_step(int reader, const std::string& path, const std::string& name) {
    const int read = walk_.find(name);
    if (read < 0) {
        findings_.note(
            "unknown_step",
            path,
            fmt::format(
                "The expression reads steps.{}, but no node has this name.{}",
                clean_text(name, 80),
                hint(name, names_)
            )
        );
        return;
    }
    const Node& node = *walk_.at(read).node;
    if (!has_output(node)) {
        findings_.note(
            "step_without_output",
            path,
            fmt::format(
                "The expression reads steps.{0}, but a {1} has no output: read the node inside or "
                "before it that has the data.",
                name,
                kind_name(node)
            )
        );
        return;
    }
    if (reader < 0) return;
    const std::string reason = never_before(walk_, reader, read);
    if (reason.empty() || can_resume_) return;
    findings_.note(
        "step_not_before", path, fmt::format("steps.{} never has an output here: {}", name, reason)
    );
}

}  // namespace ebb::model
