#include "core/model/check.h"

#include <map>
#include <set>

#include <fmt/format.h>

#include "core/model/check_expressions.h"
#include "core/model/check_nodes.h"
#include "core/model/labels_check.h"
#include "core/model/sensitive_check.h"
#include "core/model/walk.h"
#include "core/model/words.h"
#include "core/model/writer.h"
#include "support/json.h"

namespace ebb::model {

namespace {

/// Ebb's own workflows. The engine refuses to register another one of such a name.
bool is_built_in(std::string_view name) {
    return name == "ebb:webhook" || name == "ebb:bulk";
}

class Checker {
 public:
    Checker(const Definition& definition, Origin origin)
        : definition_(definition),
          findings_(origin),
          walk_(definition),
          expressions_(findings_, walk_) {}

    Findings check() {
        if (walk_.has_too_many()) {
            note(
                "too_many_nodes",
                "/steps",
                fmt::format(
                    "The workflow has more than {} nodes: split it.", DefinitionLimits::kNodesMax
                )
            );
            return findings_;
        }
        check_head();
        check_schema_text(findings_, "/input_schema", definition_.input_schema);
        check_handlers();
        check_nodes();
        if (definition_.rules) check_rules(findings_, definition_);
        check_labels(findings_, definition_);
        check_sensitive(findings_, definition_);
        expressions_.payload(-1, "/output", definition_.output);
        if (findings_.is_empty()) check_size();
        return findings_;
    }

 private:
    const Definition& definition_;
    Findings findings_;
    Walk walk_;
    ExpressionChecker expressions_;

    void note(std::string code, std::string path, std::string message) {
        findings_.note(std::move(code), std::move(path), std::move(message));
    }

    void check_range(
        const std::string& key, std::int64_t value, std::int64_t least, std::int64_t most
    ) {
        if (value >= least && value <= most) return;
        note(
            "out_of_range",
            "/" + key,
            fmt::format("\"{}\" is {}; it must be from {} to {}.", key, value, least, most)
        );
    }

    void check_head() {
        if (!is_built_in(definition_.name)) {
            check_name(findings_, "/workflow", "workflow", definition_.name);
        }
        check_range("version", definition_.version, 1, DefinitionLimits::kVersionMax);
        check_text(
            findings_,
            "/description",
            definition_.description,
            DefinitionLimits::kDescriptionBytesMax
        );
        check_duration(findings_, "/deadline", definition_.deadline);
        constexpr int kPriority = DefinitionLimits::kPriorityMax;
        check_range("priority", definition_.priority, -kPriority, kPriority);
        if (definition_.on_error == Definition::OnError::Exception && !definition_.rules) {
            note(
                "exception_without_rules",
                "/on_error",
                "\"on_error: exception\" is for workflows with rules; a step that fails for good "
                "either rolls back (compensate) or waits for an operator (dead_letter)."
            );
        }
        check_range("step_budget", definition_.step_budget, 1, DefinitionLimits::kStepBudgetMax);
    }

    void check_handlers() {
        if (definition_.handlers.size() > DefinitionLimits::kHandlersMax) {
            return note(
                "too_many_handlers",
                "/handlers",
                fmt::format(
                    "There are {} handlers; at most {} are allowed.",
                    definition_.handlers.size(),
                    DefinitionLimits::kHandlersMax
                )
            );
        }
        const std::set<std::string_view> used = used_handlers();
        for (const auto& [name, spec] : definition_.handlers) {
            const std::string path = "/handlers/" + escape_pointer(name);
            check_outside_name(findings_, path, "handler", name);
            check_spec(path, spec);
            if (used.contains(name)) continue;
            const std::vector<std::string_view> known(used.begin(), used.end());
            note(
                "unused_handler",
                path,
                fmt::format(
                    "No step and no compensation uses the handler {}.{}",
                    in_quotes(name),
                    hint(name, known)
                )
            );
        }
    }

    void check_spec(const std::string& path, const Payload& spec) {
        try {
            if (parse_json(spec, "The handler", limits()).is_object()) return;
            note("wrong_type", path, "A handler must be a map, such as {exec: [./program]}.");
        } catch (const Error& error) {
            note("invalid_payload", path, error.what());
        }
    }

    std::set<std::string_view> used_handlers() const {
        std::set<std::string_view> used;
        for (const Placed& placed : walk_.nodes()) {
            const auto* step = std::get_if<Step>(&placed.node->kind);
            if (step == nullptr) continue;
            used.insert(step->handler.empty() ? placed.node->name : step->handler);
            if (step->compensate) used.insert(step->compensate->handler);
        }
        return used;
    }

    void check_nodes() {
        if (definition_.steps.empty() && !definition_.rules) {
            note("empty_block", "/steps", "The workflow does nothing: give it at least one step.");
        }
        NodeChecker nodes(findings_, walk_, expressions_);
        for (std::size_t i = 0; i < walk_.nodes().size(); ++i) {
            nodes.check(static_cast<int>(i));
            if (static_cast<int>(i) == walk_.too_deep()) note_too_deep(walk_.nodes()[i].path);
        }
    }

    void note_too_deep(const std::string& path) {
        note(
            "nested_too_deeply",
            path,
            fmt::format(
                "Blocks are nested more than {} deep here: make a workflow of the inner part.",
                DefinitionLimits::kNestingMax
            )
        );
    }

    void check_size() {
        const std::size_t size = to_text(Json(write_definition(definition_))).size();
        if (size <= DefinitionLimits::kDefinitionBytesMax) return;
        note(
            "definition_too_large",
            "",
            fmt::format(
                "The definition has {} bytes as JSON; at most {} are allowed. Split the workflow.",
                size,
                DefinitionLimits::kDefinitionBytesMax
            )
        );
    }

    static PayloadLimits limits() {
        return {
            .payload_bytes_max = DefinitionLimits::kDefinitionBytesMax,
            .json_depth_max = DefinitionLimits::kPayloadDepthMax
        };
    }
};

}  // namespace

std::vector<Diagnostic> diagnostics_of(const Findings& findings) {
    std::vector<Diagnostic> diagnostics;
    for (const Finding& finding : findings.all()) diagnostics.push_back(finding.diagnostic);
    return diagnostics;
}

Findings check(const Definition& definition, Origin origin) {
    return Checker(definition, origin).check();
}

}  // namespace ebb::model
