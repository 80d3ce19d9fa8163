#include "store/search.h"

#include <fmt/format.h>

#include <ebb/error.h>

#include "store/names.h"
#include "store/store.h"

namespace ebb {

namespace {

using filter::Field;

filter::Condition equals(Field::Kind kind, LabelValue value) {
    filter::Condition condition{.kind = filter::Condition::Kind::Compare, .field = {.kind = kind}};
    condition.operand = std::move(value);
    return condition;
}

filter::Condition any_of(std::vector<filter::Condition> parts) {
    if (parts.size() == 1) return filter::Condition(parts.front());
    return {.kind = filter::Condition::Kind::Or, .parts = std::move(parts)};
}

/// No condition: all workflows are asked for.
std::optional<filter::Condition> workflow_condition(const InstanceSearch& search) {
    if (!search.workflow.empty()) {
        std::vector<filter::Condition> names;
        for (std::string& name : split_names(search.workflow)) {
            names.push_back(equals(Field::Kind::Workflow, std::move(name)));
        }
        return any_of(std::move(names));
    }
    if (search.has_system) return std::nullopt;
    filter::Condition is_system = equals(Field::Kind::Workflow, std::string(kSystemPrefix));
    is_system.op = filter::Operator::StartsWith;
    return filter::Condition{.kind = filter::Condition::Kind::Not, .parts = {is_system}};
}

}  // namespace

filter::Condition whole_condition(const InstanceSearch& search) {
    filter::Condition all{.kind = filter::Condition::Kind::And};
    const bool is_constant =
        search.where.kind == filter::Condition::Kind::Constant && search.where.value;
    if (search.where.kind == filter::Condition::Kind::And) {
        all.parts = search.where.parts;
    } else if (!is_constant) {
        all.parts.push_back(search.where);
    }
    if (auto workflow = workflow_condition(search)) all.parts.push_back(std::move(*workflow));
    if (search.version) all.parts.push_back(equals(Field::Kind::Version, *search.version));
    if (!search.key.empty()) all.parts.push_back(equals(Field::Kind::Key, search.key));
    if (!search.statuses.empty()) {
        std::vector<filter::Condition> any;
        for (const InstanceStatus status : search.statuses) {
            any.push_back(equals(Field::Kind::Status, to_string(status)));
        }
        all.parts.push_back(any_of(std::move(any)));
    }
    if (all.parts.empty()) return {};
    return all.parts.size() == 1 ? filter::Condition(all.parts.front()) : all;
}

void check_search(const InstanceSearch& search) {
    if (search.limit < 1 || search.scan_max < 1 || search.scan_max > InstanceSearch::kScanMax) {
        throw Error(
            ErrorCode::InvalidArgument,
            fmt::format(
                "A search finds at least 1 instance and reads 1 to {} of them.",
                InstanceSearch::kScanMax
            )
        );
    }
}

}  // namespace ebb
