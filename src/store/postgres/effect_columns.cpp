#include "store/postgres/effect_columns.h"

#include <fmt/format.h>

#include "ebb/postgres/sql.h"

namespace ebb::postgres {

void EffectColumns::add_instance(const InstanceId& id, std::int64_t revision, std::int32_t fold) {
    ++count_;
    id_.add(id);
    revision_.add(revision);
    fold_.add(fold);
}

void EffectColumns::add(
    const InstanceId& id, std::int64_t revision, std::int32_t fold, const Effects& effects
) {
    if (effects.is_empty()) return;
    add_instance(id, revision, fold);
    for (const WaitChange& change : effects.waits) add(change);
    for (const FailureChange& change : effects.failures) add(change);
    for (const Notice& notice : effects.notices) add(notice);
    add(effects.labels);
}

void EffectColumns::add_all(const SideRowRepair& repair) {
    add_instance(repair.instance, repair.revision, kAnyFold);
    end_ord_.add(count_);
    end_token_.add_null();
    end_visit_.add(std::int64_t{0});
    removed_ord_.add(count_);
    for (const WaitChange& change : repair.effects.waits) add(change);
    for (const FailureChange& change : repair.effects.failures) add(change);
    add(repair.effects.labels);
}

void EffectColumns::add(const WaitChange& change) {
    end_ord_.add(count_);
    end_token_.add(std::int64_t{change.token});
    end_visit_.add(std::int64_t{change.is_over ? 0 : change.wait.visit});
    if (change.is_over) return;
    if (change.wait.roles.empty()) put_wait(change, "");
    for (const std::string& role : change.wait.roles) put_wait(change, role);
}

void EffectColumns::put_wait(const WaitChange& change, std::string_view role) {
    const Wait& wait = change.wait;
    wait_ord_.add(count_);
    wait_token_.add(std::int64_t{change.token});
    wait_role_.add(role);
    wait_kind_.add(to_string(wait.kind));
    wait_workflow_.add(wait.workflow);
    wait_node_.add(wait.node);
    wait_signal_.add(OrNull(wait.signal));
    wait_visit_.add(std::int64_t{wait.visit});
    wait_since_.add(wait.since);
    wait_deadline_.add(wait.deadline == kNever ? TimePoint{} : wait.deadline);
    wait_quorum_.add(std::int32_t{wait.quorum});
    wait_confirmed_.add(std::int32_t{wait.confirmed});
}

void EffectColumns::add(const FailureChange& change) {
    if (change.is_over) {
        removed_ord_.add(count_);
        return;
    }
    const FailureNote& note = change.note;
    failure_ord_.add(count_);
    failure_workflow_.add(note.workflow);
    failure_version_.add(std::int32_t{note.version});
    failure_status_.add(to_string(note.status));
    failure_step_.add(OrNull(note.step));
    failure_code_.add(note.code);
    failure_group_.add(note.group);
    failure_message_.add(note.message);
    failure_event_.add(std::int64_t{note.event});
    failure_at_.add(note.at);
}

void EffectColumns::add(const Notice& notice) {
    notice_ord_.add(count_);
    notice_subscription_.add(notice.subscription);
    notice_seq_.add(std::int64_t{notice.seq});
    notice_type_.add(notice.type);
    notice_data_.add(notice.data);
    notice_at_.add(notice.at);
}

void EffectColumns::add(const Labels& labels) {
    for (const auto& [name, value] : labels) {
        const LabelType type = value.type();
        label_ord_.add(count_);
        label_name_.add(name);
        label_type_.add(to_string(type));
        if (type == LabelType::Text) {
            label_text_.add(value.text());
        } else {
            label_text_.add_null();
        }
        if (type == LabelType::Number) {
            label_number_.add(fmt::format("{}", value.number()));
        } else if (type == LabelType::Bool) {
            label_number_.add(std::string_view(value.boolean() ? "1" : "0"));
        } else {
            label_number_.add_null();
        }
        if (type == LabelType::Time) {
            label_time_.add(value.time());
        } else {
            label_time_.add_null();
        }
    }
}

Arguments& EffectColumns::make_arguments() {
    return arguments_.emplace_back(Arguments::of(id_, revision_, fold_));
}

void EffectColumns::append_to(std::vector<Call>& calls) {
    const auto append = [&](std::string_view statement,
                            std::initializer_list<const Array*> columns) {
        Arguments& arguments = make_arguments();
        for (const Array* column : columns) arguments.add(*column);
        calls.push_back({statement, arguments});
    };
    if (end_ord_.size() > 0) append(sql::end_waits, {&end_ord_, &end_token_, &end_visit_});
    if (wait_ord_.size() > 0) {
        append(
            sql::put_waits,
            {&wait_ord_,
             &wait_token_,
             &wait_role_,
             &wait_kind_,
             &wait_workflow_,
             &wait_node_,
             &wait_signal_,
             &wait_visit_,
             &wait_since_,
             &wait_deadline_,
             &wait_quorum_,
             &wait_confirmed_}
        );
    }
    if (removed_ord_.size() > 0) append(sql::remove_failures, {&removed_ord_});
    if (failure_ord_.size() > 0) {
        append(
            sql::put_failures,
            {&failure_ord_,
             &failure_workflow_,
             &failure_version_,
             &failure_status_,
             &failure_step_,
             &failure_code_,
             &failure_group_,
             &failure_message_,
             &failure_event_,
             &failure_at_}
        );
    }
    if (notice_ord_.size() > 0) {
        append(
            sql::put_notices,
            {&notice_ord_,
             &notice_subscription_,
             &notice_seq_,
             &notice_type_,
             &notice_data_,
             &notice_at_}
        );
    }
    if (label_ord_.size() > 0) {
        append(
            sql::put_labels,
            {&label_ord_, &label_name_, &label_type_, &label_text_, &label_number_, &label_time_}
        );
    }
}

}  // namespace ebb::postgres
