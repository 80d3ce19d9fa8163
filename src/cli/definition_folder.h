#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <ebb/server.h>

#include "cli/definition_file.h"
#include "cli/worker_log.h"
#include "support/sync.h"

namespace ebb::cli {

/// The paths of the definitions in a folder, sorted. Files that begin with `.` or have another
/// extension than .yaml, .yml and .json do not count. Throws Error if the folder cannot be read or
/// has too many.
std::vector<std::string> definition_paths(const std::string& folder);

/// The files of a folder of definitions, and the outcome of each. A file whose content has not
/// changed is not looked at again.
class DefinitionFolder {
 public:
    /// Files that hold no workflow are invalid, or else skipped.
    enum class Strictness { Invalid, Skipped };

    /// `session` and `log` must outlive it.
    DefinitionFolder(std::string path, Strictness strictness, Session& session, WorkerLog& log)
        : path_(std::move(path)), strictness_(strictness), session_(session), log_(log) {}

    /// Reads the folder, reports what is wrong, and returns the valid definitions that are new or
    /// have changed. Until `put` was called for them, each scan returns them again. One caller at a
    /// time.
    std::vector<DefinitionFile> scan();

    /// Calls `put` with the definition, which it may give another version, and notes how it ended.
    /// An error of the database is thrown: the next scan returns the file again.
    void put(DefinitionFile file, const std::function<void(DefinitionFile&)>& put);

    /// From any thread.
    std::vector<DefinitionFileReport> reports() const;

 private:
    struct Known {
        std::string text{};
        DefinitionFileReport report{};
        bool is_done = false;  ///< nothing is left to do with this text
        bool is_here = true;   ///< the last scan saw the file
    };

    /// Throws as read_definition_file. Nothing: the file is skipped.
    std::optional<DefinitionFile> read(const std::string& path);
    void look_at(const std::string& name, std::vector<DefinitionFile>& changed);
    void note(const std::string& name, DefinitionFileReport report, LogLevel level);
    void note_gone();
    void note_unreadable_folder(const Error& error);

    const std::string path_;
    const Strictness strictness_;
    Session& session_;
    WorkerLog& log_;
    std::string trouble_;  ///< with the folder itself, as it was logged
    mutable Mutex mutex_;
    std::map<std::string, Known> known_ EBB_GUARDED_BY(mutex_);
};

}  // namespace ebb::cli
