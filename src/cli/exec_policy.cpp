#include "cli/exec_policy.h"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "engine/core.h"
#include "engine/view.h"
#include "store/hints.h"
#include "store/stored_definition.h"

namespace ebb::cli {

namespace {

Json json_of(const Payload& spec) {
    return Json::parse(spec, nullptr, false);
}

}  // namespace

ExecPolicy::ExecPolicy(Session& session, const std::vector<DefinitionFile>& files, bool allows_all)
    : allows_all_(allows_all) {
    const std::string allowed = session.streams().environment("EBB_ALLOW_EXEC").value_or("");
    allows_all_ = allows_all_ || allowed == "1" || allowed == "true";
    for (const DefinitionFile& file : files) give(file);
}

void ExecPolicy::give(const DefinitionFile& file) {
    const Lock lock(mutex_);
    for (const auto& [name, spec] : file.definition.handlers) {
        given_[{file.definition.name, name}].push_back(json_of(spec));
    }
    ++edition_;
}

bool ExecPolicy::is_given(const std::string& workflow, const std::string& handler, const Json& spec)
    const {
    // Of the same workflow, because a relative path is resolved from the folder of its file.
    const Lock lock(mutex_);
    const auto found = given_.find({workflow, handler});
    if (found == given_.end()) return false;
    return std::find(found->second.begin(), found->second.end(), spec) != found->second.end();
}

std::vector<std::string> ExecPolicy::refused(const Definition& definition) const {
    std::vector<std::string> names;
    if (allows_all_) return names;
    for (const auto& [name, spec] : definition.handlers) {
        const Json json = json_of(spec);
        const bool is_call = json.is_object() && json.contains("http") && !json.contains("exec");
        if (!is_call && !is_given(definition.name, name, json)) names.push_back(name);
    }
    return names;
}

bool GuardedStore::is_allowed(const std::string& workflow, int version) {
    const int edition = policy_.edition();
    {
        const Lock lock(mutex_);
        if (std::exchange(edition_, edition) != edition) known_.clear();
        const auto found = known_.find({workflow, version});
        if (found != known_.end()) return found->second;
    }
    const auto row = inner_.find_workflow(workflow, version);
    bool is_fine = true;
    try {
        is_fine = !row || policy_.allows(stored_definition(*row));
    } catch (const UnreadableDefinition&) {
        // The engine cannot read it either, and puts the instance off. It may change later.
        return true;
    }
    const Lock lock(mutex_);
    return known_[{workflow, version}] = is_fine;
}

void GuardedStore::guard(Engine& engine) {
    Engine::Core::of(engine).environment.leaves = [this](const Definition& definition) {
        return !is_allowed(definition.name, definition.version);
    };
}

void GuardedStore::leave_to_others(std::vector<Claim>& claims) {
    std::vector<TaskRef> left;
    std::erase_if(claims, [&](const Claim& claim) {
        if (is_allowed(claim.instance.workflow, claim.instance.version)) return false;
        left.push_back(claim.task);
        return true;
    });
    if (left.empty()) return;
    std::string worker;
    TimePoint started_at;
    {
        const Lock lock(mutex_);
        worker = worker_;
        started_at = started_at_;
    }
    const TimePoint due = inner_.now() + engine::kLeftAlone;
    for (const TaskRef& task : left) inner_.postpone({worker, started_at}, task, due);
}

std::vector<Claim> GuardedStore::claim(const ClaimRequest& request) {
    std::vector<Claim> claims = inner_.claim(request);
    leave_to_others(claims);
    return claims;
}

LimitedClaims GuardedStore::claim_limited(const ClaimRequest& request) {
    LimitedClaims found = inner_.claim_limited(request);
    leave_to_others(found.claims);
    return found;
}

HeartbeatResult GuardedStore::heartbeat(const WorkerRow& worker, Duration lease) {
    {
        const Lock lock(mutex_);
        worker_ = worker.id;
        started_at_ = worker.started_at;
    }
    return inner_.heartbeat(worker, lease);
}

}  // namespace ebb::cli
