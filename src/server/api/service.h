#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <ebb/clock.h>
#include <ebb/engine.h>
#include <ebb/server.h>
#include <ebb/telemetry.h>

#include "core/filter/filter.h"
#include "server/api/problem.h"
#include "server/api/query.h"
#include "server/api/redaction.h"
#include "server/auth/access.h"
#include "server/auth/audit.h"
#include "server/http/http.h"
#include "store/store.h"
#include "support/secret_box.h"

// What the routes of the API share.

namespace ebb::server {

class FailedLogins;
class Hub;
class SignIn;
class WorkerDesk;
struct CallbackCall;
struct HookCall;

/// What the routes work on. All of it outlives them.
struct Service {
    Engine& engine;  ///< starts, steers, and runs handlers if the server does
    Engine& reader;  ///< reads through connections of its own
    Store& store;    ///< of `engine`
    Store& reads;    ///< of `reader`
    Access& access;
    Audit& audit;
    AdminStore& admin;
    const Redaction& redaction;
    const Clock& clock;
    Hub& hub;
    WorkerDesk& desk;
    FailedLogins& failed_logins;
    std::string version;
    bool has_worker = false;
    bool is_dev = false;
    bool needs_login = true;
    SignIn* sign_in = nullptr;  ///< by an OpenID provider; null = there is none
    std::string title;
    std::vector<PageLink> links{};
    std::string openapi;       ///< the document
    std::string openapi_etag;  ///< with its quotes
    std::function<void(std::string_view event, const std::string& detail)> report;
    std::function<std::vector<DefinitionFileReport>()> definition_files;  ///< null = no folder
    std::function<ConfigReport()> config{};                               ///< null = none is shown
    std::function<ReloadReport()> reload{};                               ///< null = it cannot
    std::function<std::string(const std::string& name)> hook_secret{};    ///< null = no folder
    const SecretBox* box = nullptr;  ///< seals secrets; null = they are stored in clear text
    Telemetry* telemetry = nullptr;  ///< null = requests are not traced
};

/// One request on its way through the API.
struct Call {
    http::Request request;
    std::map<std::string, std::string, std::less<>> parameters;
    Query query{""};
    Principal principal;
    std::string request_id;
    std::string base;                      ///< the prefix of `/api/v1` in URLs: empty, or `/ebb`
    Permission permission = "any";         ///< of the route
    std::string_view route{};              ///< the template of the path
    std::optional<InstanceId> instance{};  ///< that the path names; the principal may act on it
    std::string workflow{};                ///< of what the request is about, as far as it is known
    bool is_own = false;                   ///< the principal has started the instance
    bool is_allowed = false;               ///< the audit says so
    std::shared_ptr<const HookCall> hook{};          ///< of a request to a hook
    std::shared_ptr<const CallbackCall> callback{};  ///< of a request with a signed link
    std::string target{};  ///< for the audit, if the path has a secret; empty = the path
    RequestTrace trace{};  ///< empty if requests are not traced

    const std::string& parameter(std::string_view name) const;

    /// What the audit says of this request.
    AuditEntry audit_entry(std::string_view action) const;

    /// The URL of something in the API.
    std::string href(std::string_view path) const { return base + "/api/v1" + std::string(path); }
};

/// What the audit says of an act that has not been done: by a mistake of the request, or because it
/// is not allowed. `entry`: of the request.
AuditEntry refusal_of(AuditEntry entry, bool is_allowed, const std::exception& error);

using Handle = std::function<http::Response(Call&)>;
/// Answers later, from any thread; what it throws before it returns is answered as usual.
using AsyncHandle = std::function<void(Call&, http::Responder)>;

/// Where a principal needs the permission of a route.
enum class Reach {
    Server,   ///< with everything: the route is about the server, or about all workflows
    Project,  ///< with some workflow: the route shows and changes only what is in the grants
};

/// What of a route the audit has.
enum class Audited {
    Acts,    ///< requests that may change something: all but GET and HEAD
    Always,  ///< also those that read
    Inside,  ///< acts that the handler records itself, before it does them
    Never,
};

struct Route {
    std::string_view method;
    std::string_view path;
    std::string_view operation;  ///< the operationId
    Permission permission;
    Handle handle{};
    AsyncHandle async{};
    std::size_t body_bytes_max = 0;
    std::vector<std::string_view> media_types{};  ///< of the body
    Reach reach = Reach::Server;
    Audited audited = Audited::Acts;
    /// Who sends the request, for a route with a login of its own. Throws Problem.
    std::function<Principal(Call&)> identify{};
    /// What a browser shows of a problem, for a route that people follow a link to.
    std::function<http::Response(const Problem&)> problem_page{};
};

inline constexpr std::size_t kJsonBytesMax = std::size_t{2} << 20;
inline constexpr std::size_t kDefinitionBytesMax = std::size_t{1} << 20;
inline constexpr std::size_t kBatchBytesMax = std::size_t{64} << 20;
inline constexpr Duration kWaitMax = std::chrono::seconds(60);
inline constexpr int kPageMax = 1'000;

using Routes = std::vector<Route>;

void add_server_routes(Routes& routes, Service& service);
void add_access_routes(Routes& routes, Service& service);
void add_session_routes(Routes& routes, Service& service);
void add_project_routes(Routes& routes, Service& service);
void add_audit_routes(Routes& routes, Service& service);
void add_workflow_routes(Routes& routes, Service& service);
void add_instance_routes(Routes& routes, Service& service);
void add_related_routes(Routes& routes, Service& service);
void add_count_routes(Routes& routes, Service& service);
void add_history_routes(Routes& routes, Service& service);
void add_start_routes(Routes& routes, Service& service);
void add_rerun_routes(Routes& routes, Service& service);
void add_steering_routes(Routes& routes, Service& service);
void add_operation_routes(Routes& routes, Service& service);
void add_people_routes(Routes& routes, Service& service);
void add_config_routes(Routes& routes, Service& service);
void add_definition_routes(Routes& routes, Service& service);
void add_rehearsal_routes(Routes& routes);
void add_live_routes(Routes& routes, Service& service);
void add_remote_routes(Routes& routes, Service& service);
void add_webhook_routes(Routes& routes, Service& service);
void add_hook_routes(Routes& routes, Service& service);
void add_view_routes(Routes& routes, Service& service);
void add_callback_routes(Routes& routes, Service& service);

http::Response json_response(int status, std::string json);
http::Response json_response(int status, const nlohmann::ordered_json& json);
/// `"17"`.
std::string etag_of(std::int64_t revision);
/// Whether If-None-Match of the request has this tag.
bool matches(const Call& call, std::string_view etag);
http::Response not_modified(std::string etag);

/// Whether a person sees the answer, and not a program.
bool wants_page(const http::Request& request);

/// The first of `offered` that the request's Accept allows. Throws Problem if there is none.
std::string negotiate(const http::Request& request, const std::vector<std::string>& offered);

/// The roles of the decision that the instance waits for at `node`; with an empty `node`, of the
/// only decision that it waits for. Empty if any user may decide, or if there is no such decision.
std::vector<std::string> awaited_roles(
    Service& service, const InstanceId& id, std::string_view node
);

/// The instance that a reference names. What the principal may not see does not exist. Throws
/// Problem or Error.
InstanceId resolve(Service& service, const Principal& principal, std::string_view reference);
/// The instance that the path of the request names, on which the principal may act.
InstanceId resolve(Service& service, const Call& call);
/// For a route with an instance in its path: finds it, and checks the permission of the route for
/// its workflow. Throws Problem: 404 for what the principal may not see, 403 for what it may only
/// see.
void check_instance(Service& service, Call& call);
/// The same of a workflow.
void check_workflow(const Call& call, const std::string& workflow);
/// Whether the principal may also do this with what the request is about.
bool may_also(Service& service, const Call& call, Permission permission);

/// Whether the principal has started the instance, as its label says.
bool is_own(const Principal& principal, const InstanceRow& row);
/// Whether the principal may know that the instance exists.
bool may_see(const Principal& principal, const InstanceRow& row);
/// Throws Problem if the principal lacks the permission: everywhere, or in some project.
void check_permission(const Principal& principal, Permission permission, Reach reach);
/// What the server adds to the labels of an instance that the principal starts. Throws Problem if
/// `given` has labels whose names are the server's own.
Labels owner_labels(const Principal& principal, const std::string& workflow, const Labels& given);

/// Which instances a list may have.
struct VisibleInstances {
    std::string workflows;                   ///< names between commas; empty = all
    std::optional<filter::Condition> own{};  ///< also holds, for what is seen only if it is own
};

/// Those of the workflows `wanted` (names between commas; empty = all) that the principal may see.
/// None: there are none.
std::optional<VisibleInstances> visible_instances(
    Service& service, const Principal& principal, const std::string& wanted
);

/// Those of the workflows `wanted` (names between commas; empty = all) that belong to the project;
/// without a project all of them. None: none does, or there is no such project.
std::optional<std::string> workflows_of_project(
    Service& service, const std::optional<std::string>& project, const std::string& wanted
);

/// The filter by workflows of a list: those of `wanted` (names between commas; empty = all) with
/// which the principal has the permission. None: there is no such workflow, so nothing is listed.
std::optional<std::string> visible_workflows(
    Service& service, const Principal& principal, Permission permission, const std::string& wanted
);

}  // namespace ebb::server
