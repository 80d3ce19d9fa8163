#include "cli/recovery_plan_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <ebb/error.h>

#include "cli/exit_code.h"
#include "cli/fill.h"
#include "cli/text.h"
#include "view/instance_json.h"

namespace ebb::cli {

namespace {

nlohmann::ordered_json plan_json(const RecoveryPlan& plan) {
    nlohmann::ordered_json undone = nlohmann::ordered_json::array();
    for (const RecoveryPlan::Undo& undo : plan.undone) {
        nlohmann::ordered_json& one = undone.emplace_back();
        one["seq"] = undo.seq;
        one["node"] = undo.node;
        if (!undo.handler.empty()) one["compensation"] = undo.handler;
        if (!undo.restored.empty()) one["restored"] = view::payload_json(undo.restored);
    }
    return {
        {"stopped", plan.stopped},
        {"undone", std::move(undone)},
        {"kept", plan.kept},
        {"attributes", view::payload_json(plan.attributes)},
        {"fired", plan.fired},
        {"status", plan.status}
    };
}

/// As it is stored, and with a space behind each member, where a line can be broken.
std::string attributes_text(const Payload& attributes) {
    std::string text;
    bool is_in_string = false;
    bool is_escaped = false;
    for (const char c : one_line(attributes)) {
        text += c;
        if (!is_in_string && (c == ',' || c == ':')) text += ' ';
        if (c == '"' && !is_escaped) is_in_string = !is_in_string;
        is_escaped = c == '\\' && !is_escaped;
    }
    return text;
}

std::string undo_text(const RecoveryPlan::Undo& undo) {
    std::string text = fmt::format("Would undo {} (event {})", undo.node, undo.seq);
    if (!undo.restored.empty()) {
        text += fmt::format(", restoring {}", attributes_text(undo.restored));
    }
    if (!undo.handler.empty()) text += fmt::format(", calling \"{}\"", undo.handler);
    return text + ".\n";
}

std::string plan_text(const RecoveryPlan& plan) {
    std::string text;
    if (!plan.stopped.empty()) {
        text += fmt::format("Would stop {}.\n", fmt::join(plan.stopped, ", "));
    }
    for (const RecoveryPlan::Undo& undo : plan.undone) text += undo_text(undo);
    if (!plan.kept.empty()) {
        text += fmt::format("Would keep the writes from outside {}.\n", fmt::join(plan.kept, ", "));
    }
    text += fmt::format("Then the attributes are {}", attributes_text(plan.attributes));
    if (!plan.fired.empty()) text += fmt::format(", fired are {}", fmt::join(plan.fired, ", "));
    return text + fmt::format(", and the instance is {}.\n", plan.status);
}

}  // namespace

int print_recovery_plan(
    Session& session, Client& client, const InstanceId& id, const RecoverCommandOptions& options
) {
    if (client.engine() == nullptr) {
        throw Error(
            ErrorCode::InvalidArgument,
            "`ebb recover --dry-run` works on the database itself, not over the API of a server: "
            "use --db."
        );
    }
    using enum RecoverOptions::Then;
    const RecoveryPlan plan = client.engine()->plan_recovery(
        id,
        options.to,
        {.then = options.then == "stop" ? Stop : Rematch,
         .by = {},
         .request_id = {},
         .expected_revision = options.if_revision}
    );
    if (session.options().is_json) {
        session.print_json(plan_json(plan));
    } else {
        const std::string text = plan_text(plan);
        for (std::string_view rest = text; !rest.empty();) {
            const std::size_t end = rest.find('\n');
            session.print(fold(rest.substr(0, end), session.columns(), 2) + "\n");
            rest.remove_prefix(end + 1);
        }
    }
    return kOk;
}

}  // namespace ebb::cli
