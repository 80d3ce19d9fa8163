#include "engine/bulk_job.h"

#include <algorithm>
#include <array>
#include <charconv>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <ebb/definition.h>
#include <ebb/error.h>

#include "support/clock.h"
#include "support/json.h"

namespace ebb::engine {

namespace {

constexpr std::array<std::pair<BulkAction, std::string_view>, 6> kActions{{
    {BulkAction::Cancel, "cancel"},
    {BulkAction::Abort, "abort"},
    {BulkAction::Pause, "pause"},
    {BulkAction::Resume, "resume"},
    {BulkAction::Requeue, "requeue"},
    {BulkAction::Rerun, "rerun"},
}};
constexpr std::size_t kByBytesMax = 256;

/// The store is asked again until it answers: an operator can cancel the bulk.
constexpr std::string_view kBulkJson = R"({
    "workflow": "ebb:bulk",
    "version": 1,
    "description": "Acts on many instances. Ebb starts it; see how-to/operate.",
    "on_error": "dead_letter",
    "step_budget": 1000000000,
    "steps": [
        {
            "step": "count",
            "handler": "ebb:bulk",
            "queue": "ebb.bulk",
            "max_attempts": 1000,
            "backoff": {"initial": "1s", "max": "1m"}
        },
        {
            "loop": "turns",
            "until": "steps.turn.output.is_done",
            "max_iterations": 1000000000,
            "do": [
                {
                    "step": "turn",
                    "handler": "ebb:bulk",
                    "queue": "ebb.bulk",
                    "max_attempts": 1000,
                    "backoff": {"initial": "1s", "max": "1m"}
                },
                {"delay": "pace", "for": "${ steps.turn.output.pause }"}
            ]
        }
    ]
})";

template <typename Value>
Json optional_json(const std::optional<Value>& value) {
    return value ? Json(*value) : Json(nullptr);
}

Json ids_json(const std::vector<InstanceId>& ids) {
    Json json = Json::array();
    for (const InstanceId& id : ids) json.push_back(id.to_string());
    return json;
}

InstanceId read_id(const Json& json) {
    const auto id = InstanceId::parse(json.get<std::string>());
    if (!id) throw Error(ErrorCode::CorruptState, "The bulk names something that is not an id.");
    return *id;
}

std::vector<InstanceId> read_ids(const Json& json) {
    std::vector<InstanceId> ids;
    ids.reserve(json.size());
    for (const Json& each : json) ids.push_back(read_id(each));
    return ids;
}

TimePoint read_time(const Json& json) {
    if (json.is_null()) return {};
    const auto time = parse_time(json.get<std::string>());
    if (!time) throw Error(ErrorCode::CorruptState, "The bulk has something that is not a time.");
    return *time;
}

Json time_json(TimePoint time) {
    return time == TimePoint{} ? Json(nullptr) : Json(format_time(time));
}

/// What was written by others reads as an Error, too.
template <typename Read>
auto read(const Payload& text, Read&& read) {
    try {
        return read(Json::parse(text));
    } catch (const Json::exception& error) {
        throw Error(
            ErrorCode::CorruptState, fmt::format("The bulk cannot be read: {}.", error.what())
        );
    }
}

}  // namespace

std::string_view to_string(BulkAction action) {
    return kActions.at(static_cast<std::size_t>(action)).second;
}

std::optional<BulkAction> parse_bulk_action(std::string_view text) {
    for (const auto& [action, name] : kActions) {
        if (name == text) return action;
    }
    return std::nullopt;
}

std::string bulk_action_names() {
    std::vector<std::string_view> names;
    for (const auto& [action, name] : kActions) names.push_back(name);
    return fmt::format("{}", fmt::join(names, ", "));
}

std::string BulkRate::text() const {
    return fmt::format("{}/{}", count, format_duration(period));
}

std::optional<BulkRate> parse_bulk_rate(std::string_view text) {
    const std::size_t slash = std::min(text.find('/'), text.size());
    BulkRate rate;
    const auto [end, error] = std::from_chars(text.data(), text.data() + slash, rate.count);
    const auto period = slash < text.size() ? parse_duration(text.substr(slash + 1)) : std::nullopt;
    const bool is_number = error == std::errc() && end == text.data() + slash && rate.count > 0;
    if (!is_number || !period || *period <= Duration::zero()) return std::nullopt;
    rate.period = *period;
    return rate;
}

Payload to_payload(const BulkJob& job) {
    Json json{
        {"action", to_string(job.action)},
        {"workflows", job.workflows},
        {"before", job.before.to_string()},
        {"at", format_time(job.at)},
        {"by", job.by},
        {"reason", job.reason},
    };
    if (job.ids.empty()) {
        json["where"] = job.where;
    } else {
        json["ids"] = ids_json(job.ids);
    }
    if (job.rate) json["rate"] = job.rate->text();
    if (job.canary) {
        json["canary"] = {
            {"count", job.canary->count}, {"wait", format_duration(job.canary->wait)}
        };
    }
    return Payload::text(to_text(json));
}

BulkJob parse_bulk_job(const Payload& text) {
    return read(text, [](const Json& json) {
        BulkJob job{
            .where = json.value("where", std::string()),
            .workflows = json.at("workflows").get<std::string>(),
            .before = read_id(json.at("before")),
            .at = read_time(json.at("at")),
            .by = json.at("by").get<std::string>(),
            .reason = json.at("reason").get<std::string>(),
        };
        const auto action = parse_bulk_action(json.at("action").get<std::string>());
        if (!action) throw Error(ErrorCode::CorruptState, "The bulk has an unknown action.");
        job.action = *action;
        if (json.contains("ids")) job.ids = read_ids(json.at("ids"));
        if (json.contains("rate")) job.rate = parse_bulk_rate(json.at("rate").get<std::string>());
        if (json.contains("canary")) {
            const Json& canary = json.at("canary");
            job.canary = BulkCanary{
                .count = canary.at("count").get<std::int64_t>(),
                .wait = parse_duration(canary.at("wait").get<std::string>())
                            .value_or(BulkCanary::kWait),
            };
        }
        return job;
    });
}

Payload to_payload(const BulkProgress& progress) {
    Json skips = Json::array();
    for (const BulkSkip& each : progress.skips) {
        skips.push_back(
            {{"id", each.id.to_string()},
             {"key", each.key},
             {"code", each.code},
             {"message", each.message}}
        );
    }
    return Payload::text(to_text(Json{
        {"matched", optional_json(progress.matched)},
        {"done", progress.done},
        {"unchanged", progress.unchanged},
        {"skipped", progress.skipped},
        {"failed", progress.failed},
        {"skips", std::move(skips)},
        {"before", progress.before ? Json(progress.before->to_string()) : Json(nullptr)},
        {"next", progress.next},
        {"canaries", ids_json(progress.canaries)},
        {"canaries_until", time_json(progress.canaries_until)},
        {"has_passed_canary", progress.has_passed_canary},
        {"is_done", progress.is_done},
        {"pause", progress.pause},
    }));
}

BulkProgress parse_bulk_progress(const Payload& text) {
    return read(text, [](const Json& json) {
        BulkProgress progress{
            .done = json.at("done").get<std::int64_t>(),
            .unchanged = json.at("unchanged").get<std::int64_t>(),
            .skipped = json.at("skipped").get<std::int64_t>(),
            .failed = json.at("failed").get<std::int64_t>(),
            .next = json.at("next").get<std::size_t>(),
            .canaries = read_ids(json.at("canaries")),
            .canaries_until = read_time(json.at("canaries_until")),
            .has_passed_canary = json.at("has_passed_canary").get<bool>(),
            .is_done = json.at("is_done").get<bool>(),
            .pause = json.at("pause").get<double>(),
        };
        if (json.at("matched").is_number()) {
            progress.matched = json.at("matched").get<std::int64_t>();
        }
        if (json.at("before").is_string()) progress.before = read_id(json.at("before"));
        for (const Json& each : json.at("skips")) {
            progress.skips.push_back(
                {read_id(each.at("id")),
                 each.value("key", std::string()),
                 each.at("code").get<std::string>(),
                 each.at("message").get<std::string>()}
            );
        }
        return progress;
    });
}

std::string bulk_author(const BulkJob& job, const InstanceId& bulk) {
    const std::string mark = fmt::format("bulk {}", bulk.to_string());
    if (job.by.empty()) return mark;
    // The engine cuts longer names, and the mark must stay.
    return fmt::format("{} ({})", clean_text(job.by, kByBytesMax - mark.size() - 3), mark);
}

std::optional<InstanceId> bulk_of_author(std::string_view author) {
    constexpr std::string_view kMark = "bulk ";
    constexpr std::size_t kIdBytes = 36;
    const bool has_name = author.ends_with(')');
    if (has_name) author.remove_suffix(1);
    if (author.size() < kMark.size() + kIdBytes) return std::nullopt;
    const std::string_view head = author.substr(0, author.size() - kIdBytes);
    const bool has_mark = has_name ? head.ends_with(" (bulk ") : head == kMark;
    return has_mark ? InstanceId::parse(author.substr(author.size() - kIdBytes)) : std::nullopt;
}

std::string bulk_owner(const std::string& by) {
    return clean_text(by, kByBytesMax);
}

WorkflowRow bulk_workflow(TimePoint now) {
    const Definition definition = parse_definition_json(kBulkJson);
    return {
        .name = definition.name,
        .version = definition.version,
        .definition = to_text(definition_to_json(definition)),
        .checksum = definition_checksum(definition),
        .created_at = now,
    };
}

}  // namespace ebb::engine
