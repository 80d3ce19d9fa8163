// Finds out whether an audit is as it was written.

#include <algorithm>
#include <chrono>
#include <map>
#include <unordered_set>
#include <utility>

#include <fmt/format.h>

#include "server/auth/audit.h"

namespace ebb::server {

namespace {

constexpr int kPage = 1'000;

class Verification {
 public:
    Verification(const std::vector<std::string>& anchors, AuditCut cut)
        : anchors_(anchors), cut_(std::move(cut)) {
        for (const auto& [chain, end] : cut_.ends) hashes_.insert(end.hash);
    }

    void take(const AuditRow& row) {
        ++verdict_.rows;
        if (audit_hash(row) != row.hash) {
            fault(row.id, "The row was changed: its hash is another one.");
        }
        const auto known = chains_.find(row.chain);
        if (known == chains_.end()) {
            begin(row);
        } else {
            follow(row, known->second);
        }
        chains_.insert_or_assign(row.chain, End{row.number, row.hash});
        hashes_.insert(row.hash);
    }

    AuditVerdict finish() {
        verdict_.chains = static_cast<std::int64_t>(chains_.size());
        verdict_.cut_before = cut_.before;
        for (const auto& [id, prev] : begins_) {
            if (hashes_.contains(prev)) continue;
            fault(id, "The row that its chain begins behind was removed or changed.");
        }
        for (const std::string& anchor : anchors_) {
            if (hashes_.contains(anchor)) continue;
            fault("", fmt::format("No row has the hash {}, which is an anchor.", anchor));
        }
        return std::move(verdict_);
    }

 private:
    using End = AuditCut::End;

    void begin(const AuditRow& row) {
        const auto cut = cut_.ends.find(row.chain);
        // A row up to the cut is there if the process that removed the others has died.
        const bool is_before_cut = cut != cut_.ends.end() && row.number <= cut->second.number;
        if (row.number > 1 && cut != cut_.ends.end() && !is_before_cut) {
            follow(row, cut->second);
        } else if (row.number != 1 && !is_before_cut) {
            fault_removed(row, row.number - 1);
        } else if (row.number == 1 && !row.prev.empty() && !may_follow_removed(row)) {
            // The clocks of two servers may differ, so that row may come later.
            begins_.emplace_back(row.id, row.prev);
        }
    }

    /// A chain begins behind the newest row of that time, whatever its chain.
    bool may_follow_removed(const AuditRow& row) const {
        return cut_.before != TimePoint{} && row.at < cut_.before + std::chrono::hours(24);
    }

    void fault_removed(const AuditRow& row, std::int64_t count) {
        const char* const what = count == 1 ? "row before it was" : "rows before it were";
        fault(row.id, fmt::format("{} {} removed.", count, what));
    }

    void follow(const AuditRow& row, const End& end) {
        if (row.number > end.number + 1) {
            fault_removed(row, row.number - end.number - 1);
        } else if (row.number <= end.number) {
            fault(
                row.id,
                fmt::format("The row was inserted: its chain already has a number {}.", row.number)
            );
        } else if (row.prev != end.hash) {
            fault(row.id, "The row before it was changed or inserted.");
        }
    }

    void fault(std::string row, std::string what) {
        if (verdict_.faults.size() >= kAuditFaultsMax) return;
        verdict_.faults.push_back({std::move(row), std::move(what)});
    }

    const std::vector<std::string>& anchors_;
    const AuditCut cut_;
    std::map<std::string, End> chains_;
    std::unordered_set<std::string> hashes_;
    std::vector<std::pair<std::string, std::string>> begins_;  // a row, and what it names
    AuditVerdict verdict_;
};

}  // namespace

AuditVerdict verify_audit(AdminStore& store, const std::vector<std::string>& anchors) {
    Verification verification(anchors, load_audit_cut(store));
    AuditQuery query{.is_forward = true, .limit = kPage};
    while (true) {
        const auto rows = store.list_audit(query);
        for (const AuditRow& row : rows) verification.take(row);
        if (std::ssize(rows) < kPage) return verification.finish();
        query.place = rows.back().id;
    }
}

}  // namespace ebb::server
