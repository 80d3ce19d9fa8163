// `ebb list`: the instances, each in one line.

#include <algorithm>
#include <cctype>

#include <fmt/format.h>

#include <ebb/error.h>

#include "cli/commands.h"
#include "cli/empty_filter.h"
#include "cli/failure_text.h"
#include "cli/instance_ref.h"
#include "cli/label_argument.h"
#include "cli/outline_text.h"
#include "cli/report.h"
#include "cli/table.h"
#include "cli/text.h"
#include "cli/time_text.h"
#include "cli/watching.h"
#include "support/uuid.h"

namespace ebb::cli {

namespace {

using view::Outline;

constexpr int kPageMax = 1'000;
/// Of those that are looked at one by one, because a filter has no index.
constexpr int kFilteredPage = 100;
/// Filters that no index serves look at so many instances at most.
constexpr int kScanMax = 20'000;
constexpr std::string_view kWaiting = "waiting";

struct Found {
    std::vector<Outline> outlines{};
    std::optional<InstanceId> last{};  ///< there may be more: the last one looked at
    bool was_cut_short = false;        ///< kScanMax was reached
};

std::string lower(std::string text) {
    std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) {
        return static_cast<char>(std::tolower(c));
    });
    return text;
}

TimePoint read_when(std::string_view option, const std::string& text, TimePoint now) {
    if (const auto time = parse_when(text, now)) return *time;
    throw Error(
        ErrorCode::InvalidArgument,
        fmt::format(
            "{}: \"{}\" is not a time; write 2h (that long ago), today, yesterday, 2027-03-01, "
            "\"2027-03-01 08:30\" or 2027-03-01T08:30:00Z.",
            option,
            one_line(text)
        )
    );
}

class Search {
 public:
    Search(Session& session, const ListCommandOptions& options)
        : options_(options), client_(session.connect("list")) {
        query_.workflow = options.workflow;
        if (!query_.workflow.empty() && !client_.has_workflow(query_.workflow)) {
            throw Error(
                ErrorCode::WorkflowNotFound,
                fmt::format("There is no workflow \"{}\".", one_line(query_.workflow))
            );
        }
        query_.version = options.version;
        query_.key = options.key;
        query_.statuses = statuses();
        if (options.sort == "created") query_.order = InstanceOrder::OldestFirst;
        if (!options.before.empty()) {
            query_.before = resolve_instance(client_, options.before);
        }
        if (!options.after.empty()) query_.after = resolve_instance(client_, options.after);
        if (!options.since.empty()) {
            since_ = read_when("--since", options.since, session.now());
            const InstanceId first = lowest_id_of(since_);
            query_.after = std::max(first, query_.after.value_or(first));
        }
        if (options.until.empty()) return;
        until_ = read_when("--until", options.until, session.now());
        const InstanceId last = last_id_at(until_);
        if (!query_.before || last < *query_.before) query_.before = last;
    }

    Found go() {
        Found found;
        int seen = 0;
        if (!options_.where.empty()) return go_where();
        const bool has_filter = needs_outline();
        while (static_cast<int>(found.outlines.size()) < options_.limit) {
            const int missing = options_.limit - static_cast<int>(found.outlines.size());
            query_.limit = has_filter ? kFilteredPage : std::min(missing, kPageMax);
            auto rows = page();
            for (Outline& row : rows) {
                found.last = row.summary.id;
                ++seen;
                add(found, std::move(row));
                if (static_cast<int>(found.outlines.size()) == options_.limit) return found;
            }
            if (static_cast<int>(rows.size()) < query_.limit) {
                found.last.reset();
                return found;
            }
            if (has_filter && seen >= kScanMax) {
                found.was_cut_short = true;
                return found;
            }
            query_.go_on_after(*found.last);
        }
        return found;
    }

 private:
    /// With a filter, which the store judges.
    Found go_where() {
        Found found;
        ListOptions wanted = query_;
        wanted.where = options_.where;
        while (std::ssize(found.outlines) < options_.limit) {
            const int missing = options_.limit - static_cast<int>(found.outlines.size());
            wanted.limit = needs_outline() ? kFilteredPage : std::min(missing, kPageMax);
            Client::OutlinePage page = client_.outline_page(wanted);
            for (Outline& outline : page.outlines) {
                found.last = outline.summary.id;
                add(found, std::move(outline));
                if (std::ssize(found.outlines) == options_.limit) return found;
            }
            found.last = page.next;
            if (!page.next) return found;
            wanted.go_on_after(*page.next);
        }
        return found;
    }

    bool has_status(std::string_view status) const {
        const auto& all = options_.statuses;
        return std::find(all.begin(), all.end(), status) != all.end();
    }

    bool needs_outline() const {
        return has_status(kWaiting) || !options_.waiting.empty() || !options_.error.empty() ||
               !options_.handler.empty();
    }

    [[noreturn]] static void refuse_status(const std::string& name) {
        throw Error(
            ErrorCode::InvalidArgument,
            fmt::format(
                "--status: \"{}\" is not a status; the statuses are running, waiting, paused, "
                "compensating, dead_letter, completed, failed, cancelled, aborted and moved.",
                one_line(name)
            )
        );
    }

    std::vector<InstanceStatus> statuses() const {
        std::vector<InstanceStatus> statuses;
        for (const std::string& name : options_.statuses) {
            const auto status = parse_status(name);
            if (status) statuses.push_back(*status);
            if (!status && name != kWaiting) refuse_status(name);
        }
        if (has_status(kWaiting) && !has_status("running")) {
            statuses.push_back(InstanceStatus::Running);
        }
        using enum InstanceStatus;
        if (!statuses.empty()) return statuses;
        // An index serves them: what has completed need not be looked at.
        if (!options_.error.empty()) return {Failed, DeadLetter, Compensating, Paused};
        if (!options_.waiting.empty() || !options_.handler.empty()) {
            return {Running, Paused, Compensating, DeadLetter};
        }
        return {};
    }

    /// The id that follows all ids created up to `time`: ids begin with the time.
    static InstanceId last_id_at(TimePoint time) {
        InstanceId id;
        id.bytes.fill(0xff);
        const auto since_epoch =
            std::chrono::ceil<std::chrono::milliseconds>(time.time_since_epoch());
        auto milliseconds =
            static_cast<std::uint64_t>(std::max<std::int64_t>(since_epoch.count(), 0));
        constexpr std::size_t kTimeBytes = 6;
        for (std::size_t i = kTimeBytes; i > 0; --i) {
            id.bytes[i - 1] = static_cast<std::uint8_t>(milliseconds & 0xffU);
            milliseconds >>= 8U;
        }
        return id;
    }

    std::vector<Outline> page() {
        if (needs_outline() || !options_.only_ids) return client_.outlines(query_);
        std::vector<Outline> outlines;
        for (InstanceSummary& summary : client_.list(query_)) {
            outlines.push_back({.summary = std::move(summary)});
        }
        return outlines;
    }

    void add(Found& found, Outline outline) {
        const TimePoint created = outline.summary.created_at;
        if (created < since_ || created > until_) return;
        if (fits(outline)) found.outlines.push_back(std::move(outline));
    }

    bool fits(const Outline& outline) const {
        const bool may_wait_only = has_status(kWaiting) && !has_status("running");
        const bool is_running = outline.summary.status == InstanceStatus::Running;
        if (may_wait_only && is_running && !outline.is_waiting()) return false;
        return fits_wait(outline) && fits_error(outline) && fits_handler(outline);
    }

    bool fits_wait(const Outline& outline) const {
        if (options_.waiting.empty()) return true;
        if (options_.waiting == "any") return outline.is_waiting();
        const std::string kind = options_.waiting == "person" ? "decision" : options_.waiting;
        const auto& waits = outline.waiting_for;
        return std::any_of(waits.begin(), waits.end(), [&](const WaitingFor& wait) {
            return wait.kind == kind;
        });
    }

    bool fits_error(const Outline& outline) const {
        if (options_.error.empty()) return true;
        if (outline.error.empty()) return false;
        return lower(failure_text(outline.error)).find(lower(options_.error)) != std::string::npos;
    }

    bool fits_handler(const Outline& outline) const {
        const auto& names = outline.handlers;
        return options_.handler.empty() ||
               std::find(names.begin(), names.end(), options_.handler) != names.end();
    }

    const ListCommandOptions& options_;
    Client& client_;
    ListOptions query_;
    TimePoint since_ = TimePoint::min();
    TimePoint until_ = kNever;
};

std::string table_text(Session& session, const std::vector<Outline>& outlines, Times times) {
    const Style& style = session.out();
    const TimePoint now = session.now();
    const bool is_wide = session.options().format == OutputFormat::Wide;
    const bool has_keys = std::any_of(outlines.begin(), outlines.end(), [](const Outline& outline) {
        return !outline.summary.key.empty();
    });
    std::vector<std::string> header{"ID", "WORKFLOW", "STATUS", "STARTED"};
    if (is_wide) header.insert(header.end(), {"ENDED", "PRIORITY"});
    const bool has_labels =
        is_wide && std::any_of(outlines.begin(), outlines.end(), [](const Outline& outline) {
            return !outline.summary.labels.empty();
        });
    if (has_labels) header.emplace_back("LABELS");
    if (has_keys) header.emplace_back("KEY");
    header.emplace_back("DETAILS");
    for (std::string& title : header) title = style.dim(title);
    Table table(header);
    constexpr int kWorkflowMin = 12;
    constexpr int kKeyMin = 8;
    table.may_shrink(1, kWorkflowMin);
    if (has_keys) table.may_shrink(header.size() - 2, kKeyMin);
    for (const Outline& outline : outlines) {
        const InstanceSummary& summary = outline.summary;
        std::vector<std::string> row{
            is_wide ? summary.id.to_string() : short_id(summary.id),
            fmt::format("{} v{}", one_line(summary.workflow), summary.version),
            style.signed_status(shown_status(outline)),
            time_text(summary.created_at, now, times),
        };
        if (is_wide) {
            const bool has_ended = summary.finished_at != TimePoint{};
            row.push_back(has_ended ? time_text(summary.finished_at, now, times) : "");
            row.push_back(std::to_string(summary.priority));
        }
        if (has_labels) row.push_back(labels_text(summary.labels));
        if (has_keys) row.push_back(one_line(summary.key));
        row.push_back(details_of(outline, now, style));
        table.add(std::move(row));
    }
    return table.text(is_wide ? 0 : session.columns(), style.glyphs().ellipsis);
}

void print_ids(Session& session, const std::vector<Outline>& outlines) {
    if (session.options().is_json) {
        nlohmann::ordered_json ids = nlohmann::ordered_json::array();
        for (const Outline& outline : outlines) ids.push_back(outline.summary.id.to_string());
        session.print_json(ids);
        return;
    }
    std::string ids;
    for (const Outline& outline : outlines) ids += outline.summary.id.to_string() + "\n";
    session.print(ids);
}

void tell_more(Session& session, const Found& found, const ListCommandOptions& options) {
    if (!found.last) return;
    const bool is_oldest_first = options.sort == "created";
    const std::string_view first = is_oldest_first ? "oldest" : "newest";
    const std::string next =
        fmt::format("{} {}", is_oldest_first ? "--after" : "--before", short_id(*found.last));
    const std::string text =
        found.was_cut_short
            ? fmt::format(
                  "Looked at the {} {} instances. {} ones: {}",
                  first,
                  kScanMax,
                  is_oldest_first ? "Newer" : "Older",
                  next
              )
            : fmt::format("The {} {}. More: --limit N, or {}", first, options.limit, next);
    session.note(session.err().dim(text) + "\n");
}

}  // namespace

namespace {

int watch_list(Session& session, const ListCommandOptions& options) {
    std::string shown;
    return watch(session, options.every, [&](Watched& watched) {
        const Found found = Search(session, options).go();
        if (session.options().is_json) {
            nlohmann::ordered_json json = nlohmann::ordered_json::array();
            for (const Outline& each : found.outlines) json.push_back(view::outline_json(each));
            if (json.dump() != shown) session.print_json_line(json);
            shown = json.dump();
            return;
        }
        std::string text = found.outlines.empty()
                               ? std::string("No instances.\n")
                               : table_text(session, found.outlines, options.times);
        if (!session.streams().out.is_terminal && text == shown) return;
        watched.picture = shown = std::move(text);
    });
}

}  // namespace

int list_instances(Session& session, const ListCommandOptions& options) {
    if (options.watches) return watch_list(session, options);
    ListCommandOptions wanted = options;
    wanted.only_ids |= session.options().format == OutputFormat::Name;
    const Found found = Search(session, wanted).go();
    if (wanted.only_ids) {
        print_ids(session, found.outlines);
    } else if (session.options().is_json) {
        nlohmann::ordered_json json = nlohmann::ordered_json::array();
        for (const Outline& outline : found.outlines) json.push_back(view::outline_json(outline));
        session.print_json(json);
    } else if (found.outlines.empty()) {
        session.note("No instances.\n");
        explain_empty_filter(session, session.connect("list"), options.where);
    } else {
        session.print(table_text(session, found.outlines, options.times));
    }
    if (!wanted.only_ids) tell_more(session, found, options);
    return kOk;
}

}  // namespace ebb::cli
