// Parallel blocks: branches open, end, and are joined.

#include <algorithm>

#include <fmt/format.h>

#include "sim/reading.h"

namespace ebb::sim {

bool Reading::read_scope_entry(const Entry& e) {
    if (e.type == "scope_opened") {
        on_opened(e);
    } else if (e.type == "branch_completed") {
        on_branch_completed(e);
    } else if (e.type == "branch_failed") {
        on_branch_failed(e);
    } else if (e.type == "scope_joined") {
        on_joined(e);
    } else {
        return false;
    }
    return true;
}

Strand* Reading::parent_of(const std::string& path) {
    if (path.empty()) return nullptr;
    const std::size_t slash = path.rfind('/');
    const auto found = strands_.find(slash == std::string::npos ? "" : path.substr(0, slash));
    return found == strands_.end() ? nullptr : &found->second;
}

std::string Reading::branch_path(const Strand& parent, const std::string& branch) const {
    const std::string prefix = parent.path.empty() ? "" : parent.path + "/";
    return prefix + std::to_string(parent.scope) + ":" + branch;
}

void Reading::on_opened(const Entry& e) {
    Strand& strand = arrive(e, "parallel");
    require(!strand.is_forked, "it is open");
    require_data(strand, e);
    strand.is_forked = true;
    strand.opened = e.seq;
    for (const auto& block : strand.at->blocks) {
        strand.branches[block->label] = Strand::Branch::Open;
    }
}

/// Strands at this path or below it do not continue.
void Reading::stop_inside(const std::string& path) {
    for (auto it = strands_.begin(); it != strands_.end();) {
        Strand& strand = it->second;
        const bool is_inside =
            path.empty() || it->first == path || it->first.starts_with(path + "/");
        if (is_inside && strand.is_forked) {
            if (const auto ebbing = loser_ebbings_.find(strand.at->name);
                ebbing != loser_ebbings_.end()) {
                take_over(ebbing->second);
                loser_ebbings_.erase(ebbing);
            }
        }
        if (is_inside && strand.is_frozen) {
            it = strands_.erase(it);
            continue;
        }
        if (is_inside && !strand.is_stopping) {
            strand.is_stopping = true;
            strand.stopped = now_->seq;
            strand.must_end = strand.at != nullptr && strand.moved < decision_;
        }
        ++it;
    }
}

/// Applies to a block that keeps its losers. Compensations in it are left in place too, and may be
/// undone again later, each in a visit of its own.
void Reading::drop_inside(const std::string& path) {
    stop_inside(path);
    const auto is_inside = [&](std::int64_t undone) {
        const std::string& place = entries_.at(undone)->path;
        return place == path || place.starts_with(path + "/");
    };
    std::erase_if(undoings_, [&](const auto& each) { return is_inside(each.first); });
    std::erase_if(in_flight_, is_inside);
}

void Reading::stop_all() {
    stop_inside("");
}

void Reading::on_branch_completed(const Entry& e) {
    Strand& strand = strand_of(e);
    require(!strand.is_stopping, "it was stopped");
    require(strand.at == nullptr, "there is more to do in it");
    Strand* parent = parent_of(e.path);
    require(parent != nullptr && parent->at->name == e.node, "it belongs to another block");
    require(!parent->is_decided, "the join was already decided");
    const std::string branch = e.path.substr(e.path.rfind(':') + 1);
    require(parent->branches.at(branch) == Strand::Branch::Open, "it has already ended");
    require_data(strand, e);
    parent->branches.at(branch) = Strand::Branch::Completed;
    parent->outputs[branch] = strand.data;
    strands_.erase(e.path);
    int completed = 0;
    for (const auto& [name, state] : parent->branches) {
        completed += state == Strand::Branch::Completed;
    }
    if (completed < parent->at->join()) return;
    parent->is_decided = true;
    const bool has_losers = completed < static_cast<int>(parent->branches.size());
    for (auto& [name, state] : parent->branches) {
        if (state == Strand::Branch::Completed) continue;
        const std::string inside = branch_path(*parent, name);
        parent->at->keeps_losers() ? drop_inside(inside) : stop_inside(inside);
        if (state == Strand::Branch::Open) state = Strand::Branch::Stopped;
    }
    const bool is_rolled_back = has_losers && !parent->at->keeps_losers();
    expected_ = {
        .type = is_rolled_back ? "rollback_started" : "scope_joined",
        .node = parent->at->name,
        .path = parent->path,
        .ref = 0,
        .kind = is_rolled_back ? "losers" : ""
    };
}

void Reading::on_branch_failed(const Entry& e) {
    Strand* parent = parent_of(e.path);
    require(parent != nullptr && parent->is_forked, "its block is not open");
    const Entry& cause = *entries_.at(e.ref);
    require(
        cause.type == "step_failed" && cause.path.starts_with(e.path), "its cause is elsewhere"
    );
    parent->branches.at(e.path.substr(e.path.rfind(':') + 1)) = Strand::Branch::Failed;
    parent->at->keeps_losers() ? drop_inside(e.path) : stop_inside(e.path);
}

void Reading::on_joined(const Entry& e) {
    Strand& strand = arrive(e, "parallel");
    require(strand.is_forked && strand.is_decided, "the join does not have what it needs");
    require(!loser_ebbings_.contains(e.node), "its losers are not undone yet");
    const Json output = payload(e);
    std::size_t completed = 0;
    for (const auto& [name, state] : strand.branches) {
        const bool is_completed = state == Strand::Branch::Completed;
        completed += is_completed;
        require(
            output.contains(name) == is_completed,
            "its output does not match the completed branches"
        );
        if (!is_completed) continue;
        const bool is_right = output.at(name) == data_of(strand.outputs.at(name));
        require(is_right, "the output of '" + name + "' is wrong");
    }
    require(
        static_cast<int>(completed) == strand.at->join(),
        fmt::format("{} branches must complete", strand.at->join())
    );
    // Strands inside are gone. Strands that were called have recorded their ends.
    const std::string prefix = branch_path(strand, "");
    for (auto it = strands_.begin(); it != strands_.end();) {
        if (!it->first.starts_with(prefix)) {
            ++it;
            continue;
        }
        require(
            !it->second.must_end || it->second.is_forked,
            it->first + " had begun, but its end is missing"
        );
        it = strands_.erase(it);
    }
    strand.data = e.seq;
    go(strand, flow_.after(*strand.at));
}

}  // namespace ebb::sim
