#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>

#include <ebb/id.h>
#include <ebb/status.h>

#include "core/kernel/effects.h"
#include "core/kernel/history.h"

// What subscribers learn about an instance. Pure: derived from the events of a commit.

namespace ebb {

/// Of a notice that a person asked for, to test a subscription.
inline constexpr std::string_view kPingType = "ping";

/// All other types, sorted.
inline constexpr std::array<std::string_view, 15> kNoticeTypes = {
    "bulk.finished",
    "decision.awaited",
    "decision.made",
    "decision.overdue",
    "instance.aborted",
    "instance.cancelled",
    "instance.compensating",
    "instance.completed",
    "instance.dead_lettered",
    "instance.failed",
    "instance.requeued",
    "instance.started",
    "queue.blocked",
    "step.failed",
    "worker.lost",
};

/// Of the end of a bulk operation, which is an instance of Ebb's own.
inline constexpr std::string_view kBulkFinishedType = kNoticeTypes.front();

/// Of a decision whose deadline has passed. What the deadline has led to may be reported, too, with
/// the number of the same event, so this notice has a number of its own.
inline constexpr std::string_view kOverdueType = "decision.overdue";
inline constexpr Seq kOverdueSeq = Seq{1} << 40;

// What is about no instance.
inline constexpr std::string_view kQueueBlockedType = "queue.blocked";
inline constexpr std::string_view kWorkerLostType = "worker.lost";

/// The type of the notice that reports the event; empty if none does.
std::string_view notice_type(const HistoryEvent& event);

/// The instance that a notice is about, after the commit.
struct NoticeSubject {
    InstanceId id;
    std::string_view workflow;
    int version = 1;
    std::string_view key;
    InstanceStatus status = InstanceStatus::Running;
    /// Why it has failed, if this commit says so.
    const FailureNote* failure = nullptr;
};

/// A JSON object: `instance`, `workflow`, `version`, `key`, `status`, and what the event adds: the
/// step, the error, the decision. Never a payload.
std::string notice_data(const NoticeSubject& subject, const HistoryEvent& event);

}  // namespace ebb
