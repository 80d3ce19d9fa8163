// Verbs with --where.

#include "cli/bulk.h"

#include <algorithm>
#include <optional>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <ebb/error.h>

#include "cli/empty_filter.h"
#include "cli/exit_code.h"
#include "cli/interrupts.h"
#include "cli/text.h"
#include "engine/bulk_job.h"
#include "support/uuid.h"

namespace ebb::cli {

namespace {

constexpr int kPage = 100;
constexpr std::size_t kSamples = 20;
constexpr std::size_t kReasons = 5;

std::optional<engine::BulkRate> read_rate(const std::string& text) {
    if (text.empty()) return std::nullopt;
    const auto rate = engine::parse_bulk_rate(text);
    if (rate) return rate;
    throw Error(
        ErrorCode::InvalidArgument,
        fmt::format(
            "--rate: \"{}\" is not a number in a time, such as 100/1s or 600/1m.", one_line(text)
        )
    );
}

std::string instances_text(std::int64_t count) {
    return count == 1 ? "1 instance" : fmt::format("{} instances", count);
}

class Bulk {
 public:
    Bulk(Session& session, Client& client, const BulkOptions& options, const BulkVerb& verb)
        : session_(session),
          client_(client),
          options_(options),
          verb_(verb),
          pace_(read_rate(options.rate)),
          catcher_(interrupts_) {
        which_.where = options.where;
        // What is started in the meantime is not swept in.
        which_.before = lowest_id_of(session.now() + std::chrono::milliseconds(1));
    }

    int preview() {
        std::int64_t total = 0;
        nlohmann::ordered_json statuses = nlohmann::ordered_json::object();
        for (const InstanceCount& count : client_.count(which_)) {
            total += count.count;
            const std::string status(to_string(count.status));
            statuses[status] = statuses.value(status, std::int64_t{0}) + count.count;
        }
        if (options_.limit > 0) total = std::min(total, options_.limit);
        std::vector<InstanceSummary> samples;
        const auto wanted = std::min<std::int64_t>(total, kSamples);
        while (std::ssize(samples) < wanted) {
            which_.limit = static_cast<int>(wanted - std::ssize(samples));
            InstancePage page = client_.list_page(which_);
            std::move(page.instances.begin(), page.instances.end(), std::back_inserter(samples));
            if (!page.next) break;
            which_.before = page.next;
        }
        return print_preview(total, statuses, samples);
    }

    int run() {
        begun_ = session_.now();
        do {
            which_.limit = kPage;
            const InstancePage page = client_.list_page(which_);
            for (const InstanceSummary& summary : page.instances) {
                if (is_over()) break;
                act(summary.id);
            }
            which_.before = page.next;
            if (!page.instances.empty() && which_.before && !is_over()) tell();
        } while (which_.before && !is_over());
        return finish();
    }

 private:
    bool is_over() const {
        return interrupts_.count() > 0 || (options_.limit > 0 && seen() >= options_.limit);
    }

    std::int64_t seen() const { return done_ + unchanged_ + skipped_; }

    void wait_for_turn() {
        if (!pace_) return;
        const TimePoint turn = begun_ + pace_->period * seen() / pace_->count;
        while (interrupts_.count() == 0 && session_.now() < turn) {
            interrupts_.wait(turn - session_.now());
        }
    }

    void act(const InstanceId& id) {
        wait_for_turn();
        if (interrupts_.count() > 0) return;
        try {
            ++(verb_.act(id) ? done_ : unchanged_);
        } catch (const Error& error) {
            if (error.is_transient() || error.code() == ErrorCode::StoreError) throw;
            ++skipped_;
            if (reasons_.size() < kReasons) {
                reasons_.push_back(fmt::format("{}: {}", id.to_string(), error.what()));
            }
        }
    }

    std::string summary() const {
        std::string text = fmt::format("{} {}", verb_.done, instances_text(done_));
        if (unchanged_ > 0) text += fmt::format(", {} had nothing to do", unchanged_);
        if (skipped_ > 0) text += fmt::format(", {} skipped", skipped_);
        return text;
    }

    void tell() { session_.note(summary() + " so far ...\n"); }

    int finish() {
        const bool was_interrupted = interrupts_.count() > 0;
        if (session_.options().is_json) {
            session_.print_json(
                {{"done", done_},
                 {"unchanged", unchanged_},
                 {"skipped", skipped_},
                 {"reasons", reasons_},
                 {"is_complete", !was_interrupted}}
            );
        } else {
            session_.note(summary() + ".\n");
            for (const std::string& reason : reasons_) {
                session_.note("  " + one_line(reason) + "\n");
            }
            if (was_interrupted) session_.note("Interrupted. The same command continues.\n");
            if (!was_interrupted && seen() == 0) {
                explain_empty_filter(session_, client_, options_.where);
            }
        }
        return was_interrupted ? kInterrupted : kOk;
    }

    int print_preview(
        std::int64_t total,
        const nlohmann::ordered_json& statuses,
        const std::vector<InstanceSummary>& samples
    ) {
        if (session_.options().is_json) {
            nlohmann::ordered_json ids = nlohmann::ordered_json::array();
            for (const InstanceSummary& summary : samples) ids.push_back(summary.id.to_string());
            session_.print_json(
                {{"matched", total}, {"statuses", statuses}, {"sample_ids", std::move(ids)}}
            );
            return kOk;
        }
        std::string text =
            fmt::format("`ebb {}` would act on {}.\n", verb_.name, instances_text(total));
        for (const auto& [status, count] : statuses.items()) {
            text += fmt::format("  {} {}\n", count.get<std::int64_t>(), status);
        }
        for (const InstanceSummary& summary : samples) {
            text += fmt::format(
                "  {}  {} v{}  {}\n",
                summary.id.to_string(),
                one_line(summary.workflow),
                summary.version,
                to_string(summary.status)
            );
        }
        session_.print(text);
        if (total == 0) explain_empty_filter(session_, client_, options_.where);
        return kOk;
    }

    Session& session_;
    Client& client_;
    const BulkOptions& options_;
    const BulkVerb& verb_;
    const std::optional<engine::BulkRate> pace_;
    Interrupts interrupts_;
    SignalCatcher catcher_;
    ListOptions which_;
    TimePoint begun_{};
    std::int64_t done_ = 0;
    std::int64_t unchanged_ = 0;
    std::int64_t skipped_ = 0;
    std::vector<std::string> reasons_;
};

/// Leaves the whole operation to the servers of the database.
int detach(Session& session, Client& client, const BulkOptions& options, const BulkVerb& verb) {
    const auto action = engine::parse_bulk_action(verb.name);
    if (!action) {
        throw Error(
            ErrorCode::InvalidArgument,
            fmt::format(
                "`ebb {}` cannot be detached: a server does {}.",
                verb.name,
                engine::bulk_action_names()
            )
        );
    }
    const Json started = client.start_bulk({
        .action = *action,
        .where = options.where,
        .by = verb.by,
        .reason = verb.reason,
        .rate = read_rate(options.rate),
    });
    if (session.options().is_json) {
        session.print_json(nlohmann::ordered_json(started));
        return kOk;
    }
    const auto id = started.at("id").get<std::string>();
    session.print(id + "\n");
    session.note(
        fmt::format("`ebb serve` does it in the background: `ebb wait {}` waits for its end.\n", id)
    );
    return kOk;
}

}  // namespace

int run_bulk(Session& session, Client& client, const BulkOptions& options, const BulkVerb& verb) {
    if (!options.is_dry_run && !options.is_confirmed) {
        throw Error(
            ErrorCode::InvalidArgument,
            fmt::format(
                "`ebb {} --where` acts on every instance that matches the filter: look at them "
                "with "
                "--dry-run, then add --yes.",
                verb.name
            )
        );
    }
    if (options.is_detached) return detach(session, client, options, verb);
    Bulk bulk(session, client, options, verb);
    return options.is_dry_run ? bulk.preview() : bulk.run();
}

void check_named(
    const std::vector<std::string>& instances, const BulkOptions& options, std::string_view verb
) {
    if (!instances.empty() || !options.where.empty()) return;
    throw Error(
        ErrorCode::InvalidArgument,
        fmt::format("Name the instances to {}, or a filter that finds them: --where FILTER.", verb)
    );
}

}  // namespace ebb::cli
