#include "store/postgres/memories/folded_tasks.h"

#include <algorithm>

namespace ebb::postgres {

namespace {

/// A Put or a Remove replaces the content of the instance's row.
bool replaces_folded(const TaskChange& change) {
    return change.token == kFoldedToken;
}

/// Only rows can be changed.
bool needs_row(const TaskChange& change) {
    return change.kind != TaskChange::Kind::Put && change.kind != TaskChange::Kind::Remove;
}

}  // namespace

bool is_foldable(const NewInstance& instance) {
    if (instance.lease_owner.empty() || instance.tasks.size() != 1) return false;
    const TaskChange& task = instance.tasks.front();
    return !is_terminal(instance.row.status) && task.is_continued && task.token == kFoldedToken &&
           task.due == instance.row.created_at && task.concurrency_key.empty();
}

void FoldedTasks::note_started(std::span<const NewInstance> instances) {
    const Lock lock(mutex_);
    for (const NewInstance& instance : instances) {
        if (!is_foldable(instance)) continue;
        std::uint32_t& worker =
            workers_.try_emplace(instance.lease_owner, std::uint32_t{0}).first->second;
        if (worker == 0) worker = ++last_worker_;
        entries_.insert_or_assign(instance.row.id, Entry{worker, looks_});
    }
}

std::vector<Fold> FoldedTasks::folds_of(std::span<const Commit> commits) const {
    std::vector<Fold> folds;
    folds.reserve(commits.size());
    const Lock lock(mutex_);
    for (const Commit& commit : commits) {
        const auto& tasks = commit.tasks;
        if (std::any_of(tasks.begin(), tasks.end(), needs_row)) {
            folds.push_back(Fold::Unfold);
        } else if (!entries_.contains(commit.instance)) {
            folds.push_back(Fold::None);
        } else {
            const bool ends = is_terminal(commit.status) ||
                              std::any_of(tasks.begin(), tasks.end(), replaces_folded);
            folds.push_back(ends ? Fold::Ends : Fold::Stays);
        }
    }
    return folds;
}

void FoldedTasks::forget_ended(std::span<const Commit> commits, std::span<const Fold> folds) {
    const Lock lock(mutex_);
    for (std::size_t i = 0; i < commits.size(); ++i) {
        if (folds[i] == Fold::Ends || folds[i] == Fold::Unfold) entries_.erase(commits[i].instance);
    }
}

void FoldedTasks::forget(std::span<const InstanceId> instances) {
    if (instances.empty()) return;
    const Lock lock(mutex_);
    for (const InstanceId& id : instances) entries_.erase(id);
}

std::uint64_t FoldedTasks::begin_look() {
    const Lock lock(mutex_);
    return ++looks_;
}

void FoldedTasks::end_look(
    std::string_view worker, std::uint64_t look, std::span<const HeldTask> held
) {
    const Lock lock(mutex_);
    const auto known = workers_.find(worker);
    if (known == workers_.end()) return;
    const auto is_held = [&](const InstanceId& id) {
        const auto found = std::lower_bound(
            held.begin(),
            held.end(),
            id,
            [](const HeldTask& task, const InstanceId& other) { return task.task.instance < other; }
        );
        return found != held.end() && found->task.instance == id;
    };
    std::erase_if(entries_, [&](const auto& noted) {
        const auto& [id, entry] = noted;
        return entry.worker == known->second && entry.look < look && !is_held(id);
    });
}

void FoldedTasks::remove(std::string_view worker) {
    const Lock lock(mutex_);
    const auto known = workers_.find(worker);
    if (known == workers_.end()) return;
    std::erase_if(entries_, [&](const auto& noted) {
        return noted.second.worker == known->second;
    });
    workers_.erase(known);
}

}  // namespace ebb::postgres
