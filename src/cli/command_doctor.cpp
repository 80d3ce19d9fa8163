// `ebb doctor`: what is wrong with a deployment, and what to do about it.

#include <algorithm>
#include <filesystem>
#include <functional>
#include <map>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/overview_commands.h"
#include "cli/text.h"
#include "engine/environment.h"
#include "store/health.h"
#include "store/migrations.h"
#include "store/store.h"
#include "store/stored_definition.h"
#include "support/clock.h"

namespace ebb::cli {

namespace {

using Color = Style::Color;

constexpr Duration kSlow = std::chrono::milliseconds(50);
constexpr Duration kSkewMax = std::chrono::seconds(1);
constexpr std::uint64_t kDiskLowBytes = std::uint64_t{1} << 30;
/// Below it, PostgreSQL itself sees no reason to vacuum a small table.
constexpr std::int64_t kDeadRowsMin = 10'000;
constexpr double kConnectionsHigh = 0.8;
constexpr std::string_view kDoctorName = "ebb-doctor-";

/// The result of one check.
struct Finding {
    enum class Level { Ok, Warning, Failure, Unknown };

    Level level = Level::Ok;
    std::string name{};
    std::string text{};
    std::string hint{};
};

using Level = Finding::Level;

Finding ok(std::string text) {
    return {.text = std::move(text)};
}

Finding warning(std::string text, std::string hint) {
    return {.level = Level::Warning, .text = std::move(text), .hint = std::move(hint)};
}

Finding failure(std::string text, std::string hint) {
    return {.level = Level::Failure, .text = std::move(text), .hint = std::move(hint)};
}

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

std::string counted(std::int64_t count, std::string_view noun) {
    return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

void append(std::string& list, const std::string& item) {
    list += (list.empty() ? "" : ", ") + item;
}

Finding check_reach(const Clock& clock, Store& store) {
    const TimePoint begin = clock.now();
    store.workers();
    const Duration took = clock.now() - begin;
    const std::string text = fmt::format("answers in {}", elapsed(took));
    if (took < kSlow) return ok(text);
    return warning(text, "each step waits for one answer, which limits the speed of an instance");
}

Finding check_schema(const StoreUrl& url, Store& store) {
    store.check_rights();
    const auto migrations = url.kind == StoreUrl::Kind::Postgres
                                ? postgres_migrations({.url = url.path})
                                : sqlite_migrations({.path = url.path});
    int newest = 0;
    std::int64_t missing = 0;
    bool is_newer = false;
    for (const Migration& migration : migrations) {
        if (migration.is_applied) newest = std::max(newest, migration.number);
        if (!migration.is_applied) ++missing;
        is_newer = is_newer || !migration.is_known;
    }
    const std::string text = fmt::format("version {}", newest);
    if (is_newer) return warning(text + ", made by a newer ebb", "use the same ebb everywhere");
    if (missing == 0) return ok(text + ", current; this user has the rights of a worker");
    return warning(
        fmt::format("{}; {} not applied", text, counted(missing, "migration")), "run `ebb migrate`"
    );
}

/// The store stamps leases with its own clock, so a lease that it has just given tells its time.
Finding check_clock(const Clock& clock, Store& store) {
    constexpr Duration kLease = std::chrono::minutes(1);
    const TimePoint before = clock.now();
    WorkerRow row;
    row.id = fmt::format("{}{}-{}", kDoctorName, engine::host_name(), engine::process_id());
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
    if (!theirs) return {.level = Level::Unknown, .text = "the database kept no heartbeat"};
    // Its time was read between the two, however long that took.
    Duration skew = Duration::zero();
    if (*theirs < before) skew = *theirs - before;
    if (*theirs > after) skew = *theirs - after;
    const Duration size = skew < Duration::zero() ? -skew : skew;
    if (size <= kSkewMax) {
        return ok(
            fmt::format("this host and the database agree within {}", format_duration(kSkewMax))
        );
    }
    return warning(
        fmt::format(
            "the database's clock is {} {} this host's",
            elapsed(size),
            skew < Duration::zero() ? "behind" : "ahead of"
        ),
        "leases are safe, but times in tables and logs differ: synchronize both clocks (NTP)"
    );
}

/// Versions that this program cannot read, each with its place and cause. One that no instance
/// needs any more, and that is not the newest one, is a warning.
Finding check_definitions(Store& store) {
    constexpr int kNamedMax = 5;
    const std::vector<WorkflowRow> all = store.list_workflows();
    std::map<std::string, int> newest;
    for (const WorkflowRow& known : all) {
        int& version = newest[known.name];
        version = std::max(version, known.version);
    }
    std::map<std::pair<std::string, int>, std::int64_t> waiting;
    for (const VersionCount& count : store.count_versions()) {
        if (!is_terminal(count.status)) waiting[{count.workflow, count.version}] += count.count;
    }
    std::string text;
    std::int64_t unreadable = 0;
    bool is_needed = false;
    for (const WorkflowRow& known : all) {
        const auto row = store.find_workflow(known.name, known.version);
        if (!row) continue;
        try {
            stored_program(*row);
        } catch (const UnreadableDefinition& error) {
            const std::int64_t live = waiting[{row->name, row->version}];
            is_needed = is_needed || live > 0 || newest[row->name] == row->version;
            if (++unreadable > kNamedMax) continue;
            const std::string use =
                live > 0 ? fmt::format(" (needed by {})", counted(live, "instance")) : "";
            append(text, fmt::format("{} v{}{}: {}", row->name, row->version, use, error.cause()));
        }
    }
    if (unreadable == 0) return ok(counted(std::ssize(all), "version") + ", all readable");
    if (unreadable > kNamedMax) append(text, fmt::format("{} more", unreadable - kNamedMax));
    Finding finding = failure(
        fmt::format("this ebb cannot read {}: {}", counted(unreadable, "version"), text),
        "use the ebb that registered them, or a newer one: what waits then continues by itself; of "
        "a flow in SQL, correct the trigger in wed_trig: an instance follows with its next write"
    );
    if (!is_needed) finding.level = Level::Warning;
    return finding;
}

Finding check_workers(Engine& engine) {
    std::int64_t alive = 0;
    std::string dead;
    for (const WorkerView& worker : engine.workers()) {
        if (worker.id.starts_with(kDoctorName)) continue;
        if (worker.is_alive) {
            ++alive;
        } else {
            append(
                dead, fmt::format("{} ({})", one_line(worker.id), counted(worker.tasks, "task"))
            );
        }
    }
    if (!dead.empty()) {
        return warning(
            fmt::format("{} alive; dead: {}", alive, dead),
            alive > 0 ? "a living worker takes over what the dead one held"
                      : "start a worker: it takes over what the dead one held"
        );
    }
    if (alive == 0) return warning("no worker is alive", "start one: `ebb worker FILE`");
    return ok(fmt::format("{} alive", alive));
}

Finding check_unserved(Engine& engine) {
    std::string text;
    for (const UnservedTasks& tasks : engine.unserved()) {
        const std::string what =
            tasks.handler.empty() ? fmt::format("without a handler ({})", kOwnTasks)
                                  : fmt::format("for the handler \"{}\"", one_line(tasks.handler));
        append(
            text,
            fmt::format(
                "{} {} in the queue \"{}\"",
                counted(tasks.count, "due task"),
                what,
                one_line(tasks.queue)
            )
        );
    }
    if (text.empty()) return ok("each due task has a worker that can run it");
    return failure(
        "no worker can run " + text,
        "start a worker that has the handler and serves the queue; `ebb worker` needs the "
        "workflow's file, or --allow-exec"
    );
}

Finding check_failures(Engine& engine) {
    std::int64_t dead = 0;
    for (const InstanceCount& count : engine.stats()) {
        if (count.status == InstanceStatus::DeadLetter) dead += count.count;
    }
    if (dead == 0) return ok("no instance is dead-lettered");
    return warning(
        fmt::format("{} {} dead-lettered", counted(dead, "instance"), dead == 1 ? "is" : "are"),
        "`ebb list -s dead_letter` shows why; `ebb requeue` lets them try again"
    );
}

Finding check_retention(Engine& engine) {
    const std::vector<RetentionRule> rules = engine.retention();
    if (!rules.empty()) return ok(counted(std::ssize(rules), "rule"));
    return warning(
        "ended instances are kept forever",
        "`ebb retention set '*' 90d` lets workers delete what ended 90 days ago"
    );
}

Finding check_disk(const std::string& path) {
    const auto folder = std::filesystem::absolute(path).parent_path();
    std::error_code error;
    const auto space = std::filesystem::space(folder, error);
    if (error) return {.level = Level::Unknown, .text = error.message()};
    const std::string text =
        fmt::format("{} free in {}", size_text(space.available), folder.string());
    if (space.available >= kDiskLowBytes) return ok(text);
    return warning(text, "on a full disk, no workflow can continue");
}

Finding check_vacuum(const DatabaseHealth& health) {
    if (!health.is_autovacuum_on) {
        return failure(
            "autovacuum is off", "set autovacuum = on; without it every query slows down"
        );
    }
    std::string off;
    std::string behind;
    for (const TableHealth& table : health.tables) {
        if (!table.is_autovacuumed) append(off, table.name);
        if (table.dead_rows > std::max(kDeadRowsMin, table.live_rows)) {
            append(behind, fmt::format("{} ({} dead rows)", table.name, table.dead_rows));
        }
    }
    if (!off.empty()) {
        return failure(
            "autovacuum is off for " + off, "ALTER TABLE ... RESET (autovacuum_enabled)"
        );
    }
    if (behind.empty()) return ok("autovacuum is on and keeps up");
    return warning(
        "autovacuum does not keep up: " + behind,
        "look for a transaction that is open for a long time, or lower "
        "autovacuum_vacuum_scale_factor"
    );
}

Finding check_connections(const DatabaseHealth& health) {
    const std::string text =
        fmt::format("{} of {} in use", health.connections, health.connections_max);
    if (health.connections < kConnectionsHigh * health.connections_max) return ok(text);
    return warning(text, "raise max_connections, or use fewer processes");
}

class Examination {
 public:
    explicit Examination(Session& session)
        : session_(session), url_(parse_store_url(session.options().db)) {}

    std::vector<Finding> go() {
        Store* store = nullptr;
        const Clock& clock = *session_.streams().clock;
        check("database", [&] {
            store = &session_.shared_store("doctor", OpenMode::MustExist);
            return check_reach(clock, *store);
        });
        if (store == nullptr) return findings_;
        Engine& engine = session_.client("doctor");
        check("schema", [&] { return check_schema(url_, *store); });
        check("workflows", [&] { return check_definitions(*store); });
        check("clock", [&] { return check_clock(clock, *store); });
        check("workers", [&] { return check_workers(engine); });
        check("handlers", [&] { return check_unserved(engine); });
        check("failures", [&] { return check_failures(engine); });
        check("retention", [&] { return check_retention(engine); });
        if (url_.kind == StoreUrl::Kind::Sqlite) {
            check("disk", [&] { return check_disk(url_.path); });
        } else {
            check_server();
        }
        return findings_;
    }

 private:
    void check_server() {
        DatabaseHealth health;
        check("server", [&] {
            health = postgres_health({.url = url_.path});
            return ok(fmt::format(
                "PostgreSQL {}; the database has {}",
                health.version,
                size_text(static_cast<std::uint64_t>(std::max<std::int64_t>(health.bytes, 0)))
            ));
        });
        if (findings_.back().level == Level::Failure) return;
        check("autovacuum", [&] { return check_vacuum(health); });
        check("connections", [&] { return check_connections(health); });
    }

    /// What a check throws is a failure of what it checks.
    void check(std::string name, const std::function<Finding()>& question) {
        Finding finding;
        try {
            finding = question();
        } catch (const Error& error) {
            finding = failure(error.what(), hint_of(error.code(), error.what()));
        }
        finding.name = std::move(name);
        findings_.push_back(std::move(finding));
    }

    Session& session_;
    StoreUrl url_;
    std::vector<Finding> findings_;
};

std::string signed_level(const Style& style, Level level) {
    switch (level) {
        case Level::Ok:
            return style.paint(Color::Green, style.glyphs().done);
        case Level::Warning:
            return style.paint(Color::Yellow, "!");
        case Level::Failure:
            return style.paint(Color::Red, style.glyphs().failed);
        case Level::Unknown:
            break;
    }
    return style.dim("?");
}

void print_findings(Session& session, const std::vector<Finding>& findings) {
    const Style& style = session.out();
    int width = 0;
    for (const Finding& finding : findings) width = std::max(width, display_width(finding.name));
    constexpr int kSignAndGaps = 4;
    const int margin = width + kSignAndGaps;
    const int room = session.columns() == 0 ? 1'000 : std::max(session.columns() - margin, 20);
    const std::string blank(static_cast<std::size_t>(margin), ' ');
    for (const Finding& finding : findings) {
        std::string begin =
            fmt::format("{} {}  ", signed_level(style, finding.level), pad(finding.name, width));
        for (const std::string& line : wrap(one_line(finding.text), room)) {
            session.print(begin + line + "\n");
            begin = blank;
        }
        if (finding.hint.empty()) continue;
        for (const std::string& line : wrap(finding.hint, room)) {
            session.print(blank + style.dim(line) + "\n");
        }
    }
}

nlohmann::ordered_json findings_json(const std::vector<Finding>& findings) {
    nlohmann::ordered_json json = nlohmann::ordered_json::array();
    for (const Finding& finding : findings) {
        nlohmann::ordered_json hint;
        if (!finding.hint.empty()) hint = finding.hint;
        json.push_back({
            {"check", finding.name},
            {"level", word_of(finding.level)},
            {"text", finding.text},
            {"hint", std::move(hint)},
        });
    }
    return json;
}

}  // namespace

int examine_deployment(Session& session) {
    session.require_database("doctor");
    const std::vector<Finding> findings = Examination(session).go();
    if (session.options().is_json) {
        session.print_json(findings_json(findings));
    } else {
        print_findings(session, findings);
    }
    if (findings.front().level == Level::Failure) return kStore;
    const bool has_failed = std::any_of(findings.begin(), findings.end(), [](const auto& finding) {
        return finding.level == Level::Failure;
    });
    return has_failed ? kEndedBadly : kOk;
}

}  // namespace ebb::cli
