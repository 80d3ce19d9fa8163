#include "core/model/check_expressions.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "core/expression/field_reads.h"
#include "core/expression/source.h"
#include "core/model/words.h"
#include "support/json.h"

namespace ebb::model {

namespace {

constexpr std::array<std::string_view, 7> kVariables = {
    "input", "workflow", "steps", "instance", "attempt", "now", "metadata"
};

constexpr std::array<std::string_view, 1> kOutputField = {"output"};

/// Of a node that is not a step.
constexpr std::array<expression::FixedFields, 1> kBlockFields = {
    {{.variable = "steps", .fields = kOutputField}}
};

class NoVariables : public Variables {
 public:
    const Json* find(std::string_view) const override { return nullptr; }

    const Json* find_step(std::string_view) const override { return nullptr; }
};

/// The first name that fits, in the expression or in the expressions of a text.
template <typename Names>
std::optional<expression::Span> find_name(
    std::string_view source, bool is_text, std::string_view name, const Names& names_in
) {
    const std::vector<expression::Span> expressions =
        is_text ? expression::expressions_in(source)
                : std::vector<expression::Span>{{.begin = 0, .end = source.size()}};
    for (const expression::Span& part : expressions) {
        for (const expression::Span& found :
             names_in(source.substr(part.begin, part.end - part.begin))) {
            const expression::Span span{
                .begin = part.begin + found.begin, .end = part.begin + found.end
            };
            if (source.substr(span.begin, span.end - span.begin) == name) return span;
        }
    }
    return std::nullopt;
}

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

void ExpressionChecker::note_error(
    const std::string& path, std::string_view text, const ExpressionError& error
) {
    const std::string_view source = error.source();
    const std::size_t from = source.empty() ? std::string_view::npos : text.find(source);
    std::optional<expression::Span> span;
    if (from != std::string_view::npos) {
        const std::size_t at =
            expression::offset_of(source, {.line = error.line(), .column = error.column()});
        const expression::Span token = expression::token_at(source, at);
        span = {.begin = from + token.begin, .end = from + token.end};
    }
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
        .span = span,
        .meant = error.meant(),
    });
}

void ExpressionChecker::note_braces(const std::string& path, std::string_view source) {
    Finding finding{
        .diagnostic =
            {.code = "invalid_expression",
             .path = path,
             .message = "This key takes an expression without ${ }: remove the ${ } around it."}
    };
    const std::vector<expression::Span> inner = expression::expressions_in(source);
    const bool is_one = inner.size() == 1 && inner.front().end + 1 == source.size();
    if (is_one) {
        finding.meant = source.substr(inner.front().begin, inner.front().end - inner.front().begin);
    }
    findings_.note(std::move(finding));
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
        note_braces(path, source);
        return std::nullopt;
    }
    try {
        const Expression expression = Expression::compile(source);
        if (expression.variables_read().empty()) return expression.evaluate_bool(NoVariables());
        check_reads(
            reader,
            path,
            {.steps = expression.steps_read(),
             .attempts = expression.attempts_read(),
             .variables = expression.variables_read(),
             .source = source}
        );
    } catch (const ExpressionError& error) {
        note_error(path, source, error);
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
        note_braces(path, source);
        return;
    }
    try {
        const Expression expression = Expression::compile(source);
        check_reads(
            reader,
            path,
            {.steps = expression.steps_read(),
             .attempts = expression.attempts_read(),
             .variables = expression.variables_read(),
             .source = source,
             .is_after_step = is_after_step}
        );
    } catch (const ExpressionError& error) {
        note_error(path, source, error);
    }
}

bool ExpressionChecker::text(int reader, const std::string& path, const std::string& source) {
    try {
        const Template compiled = Template::compile_text(source);
        check_reads(
            reader,
            path,
            {.steps = compiled.steps_read(),
             .attempts = compiled.attempts_read(),
             .variables = compiled.variables_read(),
             .source = source,
             .is_text = true}
        );
        return compiled.is_constant();
    } catch (const ExpressionError& error) {
        note_error(path, source, error);
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
        findings_.note("invalid_payload", path, error.what() + std::string(quotes_hint(payload)));
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

std::optional<expression::Span> ExpressionChecker::find_step(
    const Reads& reads, std::string_view name
) {
    return find_name(reads.source, reads.is_text, name, expression::step_reads);
}

std::optional<expression::Span> ExpressionChecker::find_variable(
    const Reads& reads, std::string_view name
) {
    return find_name(reads.source, reads.is_text, name, [name](std::string_view source) {
        return expression::variable_reads(source, name);
    });
}

void ExpressionChecker::check_reads(int reader, const std::string& path, const Reads& reads) {
    for (const std::string& name : reads.variables) {
        if (std::find(kVariables.begin(), kVariables.end(), name) != kVariables.end()) continue;
        if (reads.is_after_step && name == "output") continue;
        findings_.note({
            .diagnostic =
                {.code = "unknown_variable",
                 .path = path,
                 .message = fmt::format(
                     "There is no variable {}.{}", in_quotes(name), hint(name, kVariables)
                 )},
            .span = find_variable(reads, name),
            .meant = std::string(closest(name, kVariables)),
        });
    }
    for (const std::string& name : reads.steps) check_step(reader, path, name, reads);
    for (const std::string& name : reads.attempts) check_attempts(reader, path, name, reads);
    check_fields(path, reads);
}

std::optional<expression::UnknownField> ExpressionChecker::judge_field(
    const expression::FieldRead& read
) const {
    auto unknown = expression::judge(read, expression::kFlowFields);
    const int node = unknown && !read.step.empty() ? walk_.find(read.step) : -1;
    if (node < 0 || walk_.is_a<Step>(node)) return unknown;
    // check_attempts judges the others.
    return expression::judge(read, kBlockFields);
}

void ExpressionChecker::check_fields(const std::string& path, const Reads& reads) {
    if (findings_.is_of_stored()) return;
    const std::vector<expression::Span> expressions =
        reads.is_text ? expression::expressions_in(reads.source)
                      : std::vector<expression::Span>{{.begin = 0, .end = reads.source.size()}};
    for (const expression::Span& part : expressions) {
        const Expression expression =
            Expression::compile(reads.source.substr(part.begin, part.end - part.begin));
        for (const expression::FieldRead& read : expression::field_reads(expression)) {
            auto unknown = judge_field(read);
            if (!unknown) continue;
            findings_.note({
                .diagnostic =
                    {.code = "unknown_field", .path = path, .message = std::move(unknown->message)},
                .span =
                    expression::Span{
                        .begin = part.begin + read.span.begin, .end = part.begin + read.span.end
                    },
                .meant = std::move(unknown->meant),
            });
        }
        for (const expression::WrongCall& wrong : expression::wrong_calls(expression)) {
            const expression::Place place =
                expression::place_of(expression.source(), wrong.span.begin);
            const ExpressionError error(
                wrong.message, expression.source(), place.line, place.column
            );
            note_error(path, reads.source, error);
        }
    }
}

void note_wrong_reads(Findings& findings, const std::string& path, const Json& value) {
    if (findings.is_of_stored()) return;
    for (const expression::UnknownField& unknown :
         expression::unknown_fields_in(value, expression::kFlowFields)) {
        findings.note("unknown_field", path, unknown.message);
    }
    for (const expression::WrongCall& wrong : expression::wrong_calls_in(value)) {
        findings.note("invalid_expression", path, wrong.message);
    }
}

int ExpressionChecker::find_read(const std::string& name, Finding& finding) const {
    const int read = walk_.find(name);
    if (read >= 0) return read;
    finding.diagnostic.code = "unknown_step";
    finding.diagnostic.message = fmt::format(
        "The expression reads steps.{}, but no node has this name.{}",
        clean_text(name, 80),
        hint(name, names_)
    );
    finding.meant = closest(name, names_);
    return read;
}

void ExpressionChecker::check_step(
    int reader, const std::string& path, const std::string& name, const Reads& reads
) {
    Finding finding{.diagnostic = {.path = path}, .span = find_step(reads, name)};
    const int read = find_read(name, finding);
    if (read < 0) return findings_.note(std::move(finding));
    const Node& node = *walk_.at(read).node;
    if (!has_output(node)) {
        finding.diagnostic.code = "step_without_output";
        finding.diagnostic.message = fmt::format(
            "The expression reads steps.{0}, but a {1} has no output: read the node inside or "
            "before it that has the data.",
            name,
            kind_name(node)
        );
        return findings_.note(std::move(finding));
    }
    check_order(reader, read, "an output", std::move(finding));
}

void ExpressionChecker::check_attempts(
    int reader, const std::string& path, const std::string& name, const Reads& reads
) {
    Finding finding{.diagnostic = {.path = path}, .span = find_step(reads, name)};
    const int read = find_read(name, finding);
    if (read < 0) return findings_.note(std::move(finding));
    const Node& node = *walk_.at(read).node;
    if (!std::holds_alternative<Step>(node.kind)) {
        finding.diagnostic.code = "step_without_attempts";
        finding.diagnostic.message = fmt::format(
            "The expression reads the attempts or the error of {}, but this is a {}: only a step "
            "has attempts.",
            in_quotes(name),
            kind_name(node)
        );
        return findings_.note(std::move(finding));
    }
    check_order(reader, read, "attempts", std::move(finding));
}

void ExpressionChecker::check_order(int reader, int read, std::string_view what, Finding finding) {
    if (reader < 0) return;
    const std::string reason = never_before(walk_, reader, read);
    if (reason.empty() || can_resume_) return;
    const Placed& placed = walk_.at(read);
    finding.diagnostic.code = "step_not_before";
    finding.diagnostic.message =
        fmt::format("steps.{} never has {} here: {}", placed.node->name, what, reason);
    finding.diagnostic.related.push_back(
        {.message = fmt::format("The node {} is here.", in_quotes(placed.node->name)),
         .path = placed.path + "/" + std::string(kind_name(*placed.node))}
    );
    findings_.note(std::move(finding));
}

}  // namespace ebb::model
