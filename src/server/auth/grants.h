#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include <ebb/clock.h>

#include "server/auth/roles.h"
#include "store/admin_store.h"
#include "support/sync.h"

// Roles in projects: what a token, a person or a group may do, and with which workflows.

namespace ebb::server {

/// The built-in project that has every workflow and every queue.
inline constexpr std::string_view kEverything = "*";

/// Whether a pattern such as `billing.*` fits a name: `*` is any text, `?` any character.
bool fits_pattern(const std::string& pattern, const std::string& name);

/// Workflows and queues that belong together, as patterns of their names.
struct Project {
    std::string name;
    std::string title{};
    std::vector<std::string> workflows{};
    std::vector<std::string> queues{};

    bool operator==(const Project&) const = default;
};

/// A role in a project.
struct Grant {
    std::string id{};       ///< empty = of the token or the login link itself
    std::string subject{};  ///< `token:`, `user:`, `group:` or `cert:` and a name
    Role role = Role::Viewer;
    std::string project{kEverything};
    std::vector<std::string> decision_roles{};  ///< in which it decides; empty = any
    std::vector<std::string> handlers{};  ///< patterns of what a worker may serve; empty = all
    std::vector<std::string> queues{};    ///< the same of queues
    bool may_act_as = false;              ///< may name in whose name it acts
    /// Of the project, as they are now. Empty = the project is gone: the grant gives nothing.
    std::vector<std::string> workflows{};
    std::vector<std::string> project_queues{};

    bool has(Permission permission) const;
    /// Whether it gives the permission only with instances that its holder has started.
    bool is_limited_to_own(Permission permission) const;

    bool is_everywhere() const { return project == kEverything; }

    bool has_workflow(const std::string& workflow) const;
    bool has_queue(const std::string& queue) const;

    bool operator==(const Grant&) const = default;
};

/// The projects and grants of a database. Thread-safe. What was read is remembered for
/// kRemembered.
class GrantBook {
 public:
    static constexpr Duration kRemembered = std::chrono::seconds(5);
    static constexpr std::size_t kProjectsMax = 1'000;
    static constexpr std::size_t kGrantsMax = 10'000;
    static constexpr std::size_t kPatternsMax = 64;       ///< of one project or grant
    static constexpr std::size_t kNameBytesMax = 64;      ///< of a project or the id of a grant
    static constexpr std::size_t kPatternBytesMax = 128;  ///< also of a decision role
    static constexpr std::size_t kTitleBytesMax = 256;
    static constexpr std::size_t kSubjectBytesMax = 256;

    GrantBook(AdminStore& store, const Clock& clock) : store_(store), clock_(clock) {}

    /// The grants of a principal and of its groups.
    std::vector<Grant> of(std::string_view principal, const std::vector<std::string>& groups);
    /// `grant` with the patterns of its project.
    Grant resolved(Grant grant);
    /// Throws Error with InvalidArgument if there is no such project, or if the role cannot be in
    /// it.
    void check_role(Role role, const std::string& project);

    /// The built-in project comes first.
    std::vector<nlohmann::ordered_json> projects();
    std::vector<nlohmann::ordered_json> grants();

    struct Put {
        bool is_new = false;
        nlohmann::ordered_json view;
    };

    /// Throws Error: InvalidArgument says which member is wrong, LimitExceeded.
    Put put_project(const Project& project, const std::string& by);
    /// False: there is none. Throws Error with InvalidState while a grant names it.
    bool remove_project(const std::string& name);
    Put put_grant(const Grant& grant, const std::string& by);
    bool remove_grant(const std::string& id);

    void forget();

 private:
    struct Pages {
        std::vector<Project> projects;
        std::vector<Grant> grants;
        TimePoint until{};
    };

    Pages read();
    Put put(AdminRow row, nlohmann::ordered_json document, std::size_t most);

    AdminStore& store_;
    const Clock& clock_;
    Mutex mutex_;
    std::optional<Pages> pages_ EBB_GUARDED_BY(mutex_);
};

}  // namespace ebb::server
