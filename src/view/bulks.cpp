#include "view/bulks.h"

#include <algorithm>
#include <chrono>
#include <map>

#include <fmt/format.h>

#include "engine/bulk.h"
#include "engine/view.h"
#include "support/clock.h"
#include "support/json.h"
#include "view/instance_json.h"

namespace ebb::view {

namespace {

constexpr int kSamplesMax = 20;
constexpr int kCountPage = 2'000;
constexpr auto kCountTimeMax = std::chrono::seconds(5);
/// The newest events of a bulk among which its last turn is; the others are attempts that failed.
constexpr int kNewestMax = 8;

/// How far a bulk is, and whether something keeps it from going on.
struct Story {
    std::optional<engine::BulkProgress> progress{};
    TimePoint at{};
    Json error{};
    bool awaits_operator = false;
};

Story story_of(Store& store, const InstanceId& id) {
    const HistoryQuery newest{
        .instance = id,
        .limit = kNewestMax,
        .order = HistoryQuery::Order::Backward,
        .types =
            {HistoryType::StepCompleted,
             HistoryType::StepRetried,
             HistoryType::StepFailed,
             HistoryType::SignalAwaited,
             HistoryType::SignalReceived},
    };
    Story story;
    bool is_first = true;
    for (const HistoryEvent& event : store.history(newest)) {
        if (event.type == HistoryType::StepCompleted) {
            story.progress = engine::parse_bulk_progress(event.payload);
            story.at = event.at;
            break;
        }
        const bool has_failed =
            event.type == HistoryType::StepRetried || event.type == HistoryType::StepFailed;
        if (has_failed && story.error.is_null()) {
            const Json failure = Json::parse(event.payload, nullptr, false);
            if (failure.is_object()) {
                story.error = {
                    {"code", failure.value("code", Json())},
                    {"message", failure.value("message", Json())}
                };
            }
        }
        if (is_first) story.awaits_operator = event.type == HistoryType::SignalAwaited;
        is_first = false;
    }
    return story;
}

Json skips_json(const std::vector<engine::BulkSkip>& skips) {
    Json json = Json::array();
    for (const engine::BulkSkip& each : skips) {
        json.push_back(
            {{"id", each.id.to_string()},
             {"key", text_json(each.key)},
             {"code", each.code},
             {"message", each.message}}
        );
    }
    return json;
}

/// Instances in a second, from the start to the end or to the last turn.
Json speed_json(const InstanceSummary& bulk, const Story& story) {
    const std::int64_t seen = story.progress ? story.progress->seen() : 0;
    const double seconds = std::chrono::duration<double>(story.at - bulk.created_at).count();
    if (seen == 0 || seconds <= 0) return nullptr;
    return static_cast<double>(seen) / seconds;
}

Json job_json(const engine::BulkJob& job) {
    Json json{
        {"action", engine::to_string(job.action)},
        {"where", job.ids.empty() ? text_json(job.where) : Json()},
        {"ids", job.ids.empty() ? Json() : Json(job.ids.size())},
        {"reason", text_json(job.reason)},
        {"by", text_json(job.by)},
        {"rate", job.rate ? Json(job.rate->text()) : Json()},
        {"canary", Json()},
    };
    if (job.canary) {
        json["canary"] = {
            {"count", job.canary->count}, {"wait", format_duration(job.canary->wait)}
        };
    }
    return json;
}

void count_listed(Store& store, const engine::BulkJob& job, BulkPreview& preview) {
    std::map<InstanceStatus, std::int64_t> sums;
    for (const InstanceId& id : job.ids) {
        const auto row = store.load(id);
        if (!row || !engine::is_in_bulk(job, row->workflow) || id >= job.before) continue;
        ++sums[row->status];
        ++preview.matched;
        if (std::ssize(preview.samples) < kSamplesMax) {
            preview.samples.push_back(engine::to_summary(*row));
        }
    }
    preview.counts.assign(sums.begin(), sums.end());
}

}  // namespace

Json bulk_json(Store& store, const InstanceSummary& bulk) {
    const auto events = store.history({.instance = bulk.id, .limit = 1});
    const engine::BulkJob job =
        engine::parse_bulk_job(events.empty() ? Payload("null") : events.front().payload);
    const Story story = story_of(store, bulk.id);
    const engine::BulkProgress progress = story.progress.value_or(engine::BulkProgress{});
    const bool is_stopped = story.awaits_operator && bulk.status == InstanceStatus::Running;
    Json json{
        {"id", bulk.id.to_string()},
        {"status", is_stopped ? Json("canary_failed") : Json(to_string(bulk.status))},
    };
    json.update(job_json(job));
    json.update(Json{
        {"matched", progress.matched ? Json(*progress.matched) : Json()},
        {"done", progress.done},
        {"unchanged", progress.unchanged},
        {"skipped", progress.skipped},
        {"failed", progress.failed},
        {"skips", skips_json(progress.skips)},
        {"per_second", speed_json(bulk, story)},
        {"error", story.error},
        {"created_at", time_json(bulk.created_at)},
        {"updated_at", time_json(bulk.updated_at)},
        {"finished_at", time_json(bulk.finished_at)},
    });
    return json;
}

InstancePage list_bulks(Engine& engine, const BulkListQuery& query) {
    ListOptions options{
        .workflow = std::string(engine::kBulkWorkflow),
        .before = query.before,
        .limit = query.limit,
    };
    if (!query.by.empty()) options.where = "labels.by == " + to_text(query.by);
    return engine.list_page(options);
}

BulkPreview preview_bulk(Store& store, const engine::BulkJob& job) {
    using Steady = std::chrono::steady_clock;
    BulkPreview preview;
    if (!job.ids.empty()) {
        count_listed(store, job, preview);
        return preview;
    }
    InstanceSearch search = engine::bulk_search(job);
    search.limit = kSamplesMax;
    for (const InstanceRow& row : store.search(search).rows) {
        preview.samples.push_back(engine::to_summary(row));
    }
    search.scan_max = kCountPage;
    const auto end = Steady::now() + kCountTimeMax;
    std::map<InstanceStatus, std::int64_t> sums;
    do {
        if (Steady::now() >= end) {
            preview.is_complete = false;
            break;
        }
        const InstanceTally tally = store.tally(search);
        for (const StatusCount& each : tally.counts) {
            sums[each.status] += each.count;
            preview.matched += each.count;
        }
        search.before = tally.next;
    } while (search.before);
    preview.counts.assign(sums.begin(), sums.end());
    return preview;
}

Json preview_json(const BulkPreview& preview) {
    Json counts = Json::array();
    for (const auto& [status, count] : preview.counts) {
        counts.push_back({{"status", to_string(status)}, {"count", count}});
    }
    Json samples = Json::array();
    for (const InstanceSummary& each : preview.samples) samples.push_back(summary_json(each));
    return {
        {"matched", preview.matched},
        {"complete", preview.is_complete},
        {"counts", std::move(counts)},
        {"samples", std::move(samples)},
    };
}

}  // namespace ebb::view
