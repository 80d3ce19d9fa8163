#include "engine/program_cache.h"

#include <ebb/definition.h>

namespace ebb::engine {

namespace {

/// More than this many are kept only while they are in use.
constexpr std::size_t kProgramsMax = 256;
constexpr std::size_t kNewestMax = 1'024;

template <typename Programs>
void forget_unused(Programs& programs) {
    if (programs.size() <= kProgramsMax) return;
    std::erase_if(programs, [](const auto& each) { return each.second.use_count() == 1; });
}

}  // namespace

std::shared_ptr<const Program> ProgramCache::find_cached(const std::string& workflow, int version) {
    const Lock lock(mutex_);
    const auto found = programs_.find({workflow, version});
    if (found != programs_.end()) return found->second;
    const auto known = unreadable_.find({workflow, version});
    if (known != unreadable_.end() &&
        environment_.steady_now() - known->second.read_at < kUnreadableFor) {
        throw known->second.error;
    }
    return nullptr;
}

void ProgramCache::note_unreadable(const WorkflowRow& row, const UnreadableDefinition& error) {
    const SteadyPoint now = environment_.steady_now();
    {
        const Lock lock(mutex_);
        const auto known = unreadable_.find({row.name, row.version});
        if (known != unreadable_.end()) {
            known->second = {.error = error, .read_at = now};
            return;
        }
        if (unreadable_.size() >= kProgramsMax) unreadable_.clear();
        unreadable_.emplace(
            std::pair(row.name, row.version), Unreadable{.error = error, .read_at = now}
        );
    }
    environment_.log.warning(
        "workflow_unreadable",
        {{"workflow", row.name},
         {"version", row.version},
         {"error", error.cause()},
         {"hint", "its instances wait for an ebb that can read it: `ebb doctor`"}}
    );
}

std::shared_ptr<const Program> ProgramCache::compile(const WorkflowRow& row) {
    std::shared_ptr<const Program> program;
    try {
        program = stored_program(row);
    } catch (const UnreadableDefinition& error) {
        note_unreadable(row, error);
        throw;
    }
    const Lock lock(mutex_);
    unreadable_.erase({row.name, row.version});
    // Two threads may have compiled the same: the first one's is kept, so that all share it.
    const auto kept = programs_.emplace(std::pair(row.name, row.version), std::move(program));
    std::shared_ptr<const Program> found = kept.first->second;
    forget_unused(programs_);
    return found;
}

std::shared_ptr<const Program> ProgramCache::find(const std::string& workflow, int version) {
    if (auto program = find_cached(workflow, version)) return program;
    const auto row = environment_.store.find_workflow(workflow, version);
    return row ? compile(*row) : nullptr;
}

std::shared_ptr<const Program> ProgramCache::find_newest(const std::string& workflow) {
    const SteadyPoint now = environment_.steady_now();
    int version = 0;
    {
        const Lock lock(mutex_);
        const auto known = newest_.find(workflow);
        const bool is_fresh =
            known != newest_.end() && now - known->second.asked_at < kNewestKnownFor;
        if (is_fresh) version = known->second.version;
    }
    if (version != 0) return find(workflow, version);
    const auto row = environment_.store.find_workflow(workflow, std::nullopt);
    if (!row) return nullptr;
    {
        const Lock lock(mutex_);
        if (newest_.size() >= kNewestMax) newest_.clear();
        newest_[workflow] = {.version = row->version, .asked_at = now};
    }
    if (auto program = find_cached(row->name, row->version)) return program;
    return compile(*row);
}

void ProgramCache::remember(std::shared_ptr<const Program> program) {
    const Definition& definition = program->definition();
    const Lock lock(mutex_);
    newest_.erase(definition.name);
    programs_.emplace(std::pair(definition.name, definition.version), std::move(program));
    forget_unused(programs_);
}

}  // namespace ebb::engine
