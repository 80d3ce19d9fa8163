// `ebb doctor`: what is wrong with a deployment, and what to do about it.

#include <algorithm>
#include <filesystem>
#include <functional>

#include <fmt/format.h>

#include "cli/commands.h"
#include "cli/process_mark.h"
#include "cli/text.h"
#include "engine/environment.h"
#include "store/store.h"

namespace ebb::cli {

namespace {

using Color = Style::Color;

constexpr Duration kSlow = std::chrono::milliseconds(50);
constexpr Duration kSkewMax = std::chrono::seconds(1);
constexpr std::uintmax_t kDiskLow = std::uintmax_t{1} << 30;

/// One thing that was looked at.
struct Finding {
    enum class Level { Ok, Warning, Failure, Unknown };

    Level level = Level::Ok;
    std::string name{};
    std::string text{};
    std::string hint{};
};

using Level = Finding::Level;

std::string_view word_of(Level level) {
    switch (level) {
        case Level::Ok:
            return "ok";
        case Level::Warning:
            return "warning";
        case Level::Failure:
            return "failure";
        case Level::Unknown:
            break;
    }
    return "unknown";
}

/// A finding by a question; what it throws is a failure.
Finding ask(std::string name, const std::function<Finding()>& question) {
    Finding finding;
    try {
        finding = question();
    } catch (const Error& error) {
        finding = {.level = Level::Failure, .text = error.what(), .hint = hint_of(error.code())};
    }
    finding.name = std::move(name);
    return finding;
}

Finding check_reach(const Clock& clock, Store& store) {
    const TimePoint begin = clock.now();
    store.workers();
    const Duration took = clock.now() - begin;
    const std::string text = fmt::format("a question takes {}", elapsed(took));
    if (took < kSlow) return {.text = text};
    return {
        .level = Level::Warning,
        .text = text,
        .hint = "each step commits once, so this bounds how fast one instance can be",
    };
}

/// The store's own time is in the end of a lease that it has just given.
Finding check_clock(const Clock& clock, Store& store) {
    constexpr Duration kLease = std::chrono::minutes(1);
    const TimePoint before = clock.now();
    WorkerRow row;
    row.id = fmt::format("ebb-doctor-{}-{}", engine::host_name(), engine::process_id());
    row.host = engine::host_name();
    row.pid = engine::process_id();
    row.capacity = 0;
    row.started_at = before;
    store.heartbeat(row, kLease);
    const TimePoint after = clock.now();
    std::optional<TimePoint> theirs;
    for (const WorkerRow& worker : store.workers()) {
        if (worker.id == row.id) theirs = worker.expires_at - kLease;
    }
    store.sign_off({row.id, row.started_at});
    if (!theirs) return {.level = Level::Unknown, .text = "the database did not keep a heartbeat"};
    const TimePoint ours = before + (after - before) / 2;
    const Duration skew = *theirs - ours;
    const Duration size = skew < Duration::zero() ? -skew : skew;
    const std::string text = fmt::format(
        "the database's clock is {} {} this host's",
        elapsed(size),
        skew < Duration::zero() ? "behind" : "ahead of"
    );
    if (size <= kSkewMax) return {.text = text};
    return {
        .level = Level::Warning,
        .text = text,
        .hint = "leases are safe, but timers and retries of this host are off by as much: run NTP",
    };
}

Finding check_workers(Engine& engine) {
    std::int64_t alive = 0;
    std::string dead;
    for (const WorkerView& worker : engine.workers()) {
        if (worker.id.starts_with("ebb-doctor-")) continue;
        if (worker.is_alive) ++alive;
        if (!worker.is_alive) {
            dead += fmt::format("{}{} ({} tasks)", dead.empty() ? "" : ", ", one_line(worker.id), worker.tasks);
        }
    }
    if (!dead.empty()) {
        return {
            .level = Level::Warning,
            .text = fmt::format("{} alive; dead: {}", alive, dead),
            .hint = alive > 0 ? "living workers take over what they held"
                              : "start a worker: it takes over what they held",
        };
    }
    if (alive == 0) {
        return {
            .level = Level::Warning,
            .text = "no worker is alive",
            .hint = "`ebb worker FILE` runs what is due",
        };
    }
    return {.text = fmt::format("{} alive", alive)};
}

Finding check_unserved(Engine& engine) {
    std::string text;
    for (const UnservedTasks& each : engine.unserved()) {
        text += fmt::format(
            "{}{} due task{} for the handler \"{}\" in the queue \"{}\"",
            text.empty() ? "" : ", ",
            each.count,
            each.count == 1 ? "" : "s",
            one_line(each.handler),
            one_line(each.queue)
        );
    }
    if (text.empty()) return {.text = "every due task has a worker that can run it"};
    return {
        .level = Level::Failure,
        .text = text,
        .hint = "start a worker that has the handler and serves the queue; one without the "
                "workflow's file runs programs only with --allow-exec",
    };
}

Finding check_failures(Store& store) {
    std::int64_t dead = 0;
    for (const StatusCount& count : store.count()) {
        if (count.status == InstanceStatus::DeadLetter) dead += count.count;
    }
    if (dead == 0) return {.text = "no instance is dead-lettered"};
    return {
        .level = Level::Warning,
        .text = fmt::format("{} instance{} dead-lettered", dead, dead == 1 ? " is" : "s are"),
        .hint = "`ebb list -s dead_letter` shows why; `ebb requeue` lets them try again",
    };
}

Finding check_retention(Engine& engine) {
    if (!engine.retention().empty()) return {.text = "there are retention rules"};
    return {
        .level = Level::Warning,
        .text = "everything is kept forever",
        .hint = "`ebb retention set '*' 90d` lets workers delete what ended long ago",
    };
}

Finding check_disk(const std::string& path) {
    std::error_code error;
    const auto folder = std::filesystem::absolute(path).parent_path();
    const auto space = std::filesystem::space(folder, error);
    if (error) return {.level = Level::Unknown, .text = error.message()};
    const double gigabytes = static_cast<double>(space.available) / static_cast<double>(kDiskLow);
    const std::string text = fmt::format("{:.1f} GiB free in {}", gigabytes, folder.string());
    if (space.available >= kDiskLow) return {.text = text};
    return {.level = Level::Warning, .text = text, .hint = "a full disk stops every workflow"};
}

std::vector<Finding> examine(Session& session) {
    std::vector<Finding> findings;
    Store* store = nullptr;
    findings.push_back(ask("database", [&] {
        store = &session.shared_store("doctor", OpenMode::MustExist);
        return check_reach(*session.streams().clock, *store);
    }));
    if (store == nullptr) return findings;
    Engine& engine = session.client("doctor");
    findings.push_back(ask("schema and rights", [&] {
        store->check_rights();
        return Finding{.text = "this program and its database user can work here"};
    }));
    findings.push_back(ask("clock", [&] { return check_clock(*session.streams().clock, *store); }));
    findings.push_back(ask("workers", [&] { return check_workers(engine); }));
    findings.push_back(ask("handlers", [&] { return check_unserved(engine); }));
    findings.push_back(ask("failures", [&] { return check_failures(*store); }));
    findings.push_back(ask("retention", [&] { return check_retention(engine); }));
    const StoreUrl url = parse_store_url(session.options().db);
    if (url.kind == StoreUrl::Kind::Sqlite) {
        findings.push_back(ask("disk", [&] { return check_disk(url.path); }));
    }
    return findings;
}

void print_findings(Session& session, const std::vector<Finding>& findings) {
    const Style& style = session.out();
    const Glyphs& glyphs = style.glyphs();
    std::size_t width = 0;
    for (const Finding& finding : findings) width = std::max(width, finding.name.size());
    const int columns = session.columns() == 0 ? 1'000 : session.columns();
    const int margin = static_cast<int>(width) + 4;
    for (const Finding& finding : findings) {
        std::string sign = style.paint(Color::Green, glyphs.done);
        if (finding.level == Level::Warning) sign = style.paint(Color::Yellow, "!");
        if (finding.level == Level::Failure) sign = style.paint(Color::Red, glyphs.failed);
        if (finding.level == Level::Unknown) sign = style.dim("?");
        std::string begin = fmt::format("{} {}  ", sign, pad(finding.name, static_cast<int>(width)));
        const std::string blank(static_cast<std::size_t>(margin), ' ');
        for (const std::string& line : wrap(one_line(finding.text), columns - margin)) {
            session.print(begin + line + "\n");
            begin = blank;
        }
        if (finding.hint.empty()) continue;
        for (const std::string& line : wrap(finding.hint, columns - margin)) {
            session.print(blank + style.dim(line) + "\n");
        }
    }
}

}  // namespace

int examine_deployment(Session& session) {
    session.require_database("doctor");
    const std::vector<Finding> findings = examine(session);
    if (session.options().is_json) {
        nlohmann::ordered_json json = nlohmann::ordered_json::array();
        for (const Finding& finding : findings) {
            json.push_back({
                {"check", finding.name},
                {"level", word_of(finding.level)},
                {"text", finding.text},
                {"hint", finding.hint.empty() ? nlohmann::ordered_json(nullptr)
                                              : nlohmann::ordered_json(finding.hint)},
            });
        }
        session.print_json(json);
    } else {
        print_findings(session, findings);
    }
    if (findings.front().level == Level::Failure) return kStore;
    return std::any_of(findings.begin(), findings.end(), [](const Finding& finding) {
               return finding.level == Level::Failure;
           })
               ? kEndedBadly
               : kOk;
}

}  // namespace ebb::cli
