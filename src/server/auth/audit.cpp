#include "server/auth/audit.h"

#include <algorithm>
#include <exception>
#include <iterator>
#include <memory>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "server/auth/secret.h"
#include "support/sha256.h"
#include "support/uuid.h"
#include "view/payload_json.h"

namespace ebb::server {

namespace {

using nlohmann::ordered_json;

constexpr std::size_t kChainBytes = 16;

std::string dump(const ordered_json& json) {
    return json.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

/// The bulk operation that the row is about; empty = none. The request that starts one names it in
/// its details, those that steer it in their path.
std::string bulk_of(const AuditRow& row, const ordered_json& detail) {
    constexpr std::string_view kPath = "/bulk/";
    if (!row.action.ends_with("Bulk")) return {};
    const std::size_t at = row.target.find(kPath);
    if (at != std::string::npos) {
        const std::size_t begin = at + kPath.size();
        return row.target.substr(begin, row.target.find('/', begin) - begin);
    }
    const auto named = detail.is_object() ? detail.find("bulk") : detail.end();
    return named != detail.end() && named->is_string() ? named->get<std::string>() : std::string();
}

}  // namespace

struct Audit::Batch {
    std::vector<AuditRow> rows;
    bool is_done = false;
    std::exception_ptr error;
};

Audit::~Audit() {
    if (number_ > 0) anchor();
}

std::string audit_hash(const AuditRow& row) {
    const ordered_json canonical = {
        row.id,
        row.at.time_since_epoch().count(),
        row.principal,
        row.credential,
        row.remote,
        row.request_id,
        row.action,
        row.target,
        row.workflow,
        row.outcome,
        row.detail,
        row.chain,
        row.number,
    };
    return sha256_hex(row.prev + "\n" + dump(canonical));
}

std::string audit_json(const AuditRow& row) {
    const ordered_json detail = ordered_json::parse(row.detail, nullptr, false);
    const ordered_json json = {
        {"id", row.id},
        {"at", view::time_json(row.at)},
        {"principal", row.principal},
        {"credential", row.credential},
        {"remote", row.remote},
        {"request_id", row.request_id},
        {"action", row.action},
        {"target", row.target},
        {"workflow", view::text_json(row.workflow)},
        {"outcome", row.outcome},
        {"detail", detail},
        {"bulk", view::text_json(bulk_of(row, detail))},
        {"chain", row.chain},
        {"number", row.number},
        {"prev", row.prev},
        {"hash", row.hash},
    };
    return dump(json);
}

AuditRow Audit::row_of(AuditEntry entry, TimePoint now) const {
    // Bytes that are not UTF-8 would not be the same when they are read again.
    const auto clean = [](std::string text) {
        return ordered_json::parse(dump(ordered_json(text))).get<std::string>();
    };
    return {
        .at = now,
        .principal = clean(std::move(entry.principal)),
        .credential = std::move(entry.credential),
        .remote = clean(std::move(entry.remote)),
        .request_id = std::move(entry.request_id),
        .action = std::move(entry.action),
        .target = clean(std::move(entry.target)),
        .workflow = clean(std::move(entry.workflow)),
        .outcome = std::move(entry.outcome),
        .detail = std::move(entry.detail),
    };
}

/// The first row of a chain names the newest row of all: the end of an earlier chain cannot be cut
/// off without a trace.
void Audit::begin_chain() {
    const auto newest = store_.list_audit({.limit = 1});
    last_ = newest.empty() ? std::string() : newest.front().hash;
    chain_ = make_secret().substr(0, kChainBytes);
    number_ = 0;
}

void Audit::append(std::vector<AuditRow>& rows) {
    if (chain_.empty()) begin_chain();
    std::int64_t number = number_;
    std::string last = last_;
    for (AuditRow& row : rows) {
        row.id = make_instance_id(clock_, row.at).to_string();
        row.chain = chain_;
        row.number = ++number;
        row.prev = std::move(last);
        row.hash = audit_hash(row);
        last = row.hash;
    }
    try {
        store_.append_audit(rows);
    } catch (...) {
        // It is unknown what was written; nothing may follow it with the same number.
        chain_.clear();
        throw;
    }
    number_ = number;
    last_ = std::move(last);
    const SteadyPoint now = clock_.steady_now();
    if (anchored_at_ == SteadyPoint{}) anchored_at_ = now;
    if (now - anchored_at_ < kAnchorEvery) return;
    anchored_at_ = now;
    anchor();
}

void Audit::anchor() {
    if (log_ == nullptr || !log_->is_enabled(LogLevel::Info)) return;
    const LogField fields[] = {{"chain", chain_}, {"number", number_}, {"hash", last_}};
    log_->write(LogLevel::Info, "audit_anchor", fields);
}

void Audit::write(AuditEntry entry) {
    std::vector<AuditEntry> entries;
    entries.push_back(std::move(entry));
    write(std::move(entries));
}

void Audit::write(std::vector<AuditEntry> entries) {
    std::vector<AuditRow> rows;
    rows.reserve(entries.size());
    for (AuditEntry& entry : entries) rows.push_back(row_of(std::move(entry), clock_.now()));
    Lock lock(mutex_);
    if (!next_) next_ = std::make_shared<Batch>();
    const std::shared_ptr<Batch> batch = next_;
    std::move(rows.begin(), rows.end(), std::back_inserter(batch->rows));
    while (is_writing_ && !batch->is_done) changed_.wait(lock);
    if (!batch->is_done) {
        // The first of the waiting ones writes for all of them.
        is_writing_ = true;
        next_.reset();
        lock.unlock();
        std::exception_ptr error;
        try {
            append(batch->rows);
        } catch (...) {
            error = std::current_exception();
        }
        lock.lock();
        batch->error = error;
        batch->is_done = true;
        is_writing_ = false;
        changed_.notify_all();
    }
    if (batch->error) std::rethrow_exception(batch->error);
}

bool Audit::takes_refusal(AuditEntry& entry) {
    const SteadyPoint now = clock_.steady_now();
    const Lock lock(mutex_);
    if (now - refusals_since_ >= std::chrono::seconds(1)) {
        refusals_since_ = now;
        refusals_left_ = kRefusedPerSecond;
    }
    if (refusals_left_ == 0) {
        ++refusals_dropped_;
        return false;
    }
    --refusals_left_;
    if (refusals_dropped_ == 0) return true;
    ordered_json detail = ordered_json::parse(entry.detail);
    detail["and_before"] = std::exchange(refusals_dropped_, 0);
    entry.detail = dump(detail);
    return true;
}

void Audit::note(AuditEntry entry) noexcept {
    try {
        if (takes_refusal(entry)) write(std::move(entry));
    } catch (const std::exception& error) {
        if (log_ == nullptr) return;
        const LogField fields[] = {{"error", error.what()}};
        log_->write(LogLevel::Error, "audit_failed", fields);
    }
}

}  // namespace ebb::server
