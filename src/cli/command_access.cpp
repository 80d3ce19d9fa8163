// `ebb project`, `ebb grant` and `ebb audit`: who may do what on the servers of a database, and who
// did what.

#ifdef EBB_WITH_SERVER

#include <fmt/format.h>

#include "cli/admin.h"
#include "cli/serve_options.h"
#include "cli/table.h"
#include "server/auth/audit.h"
#include "server/auth/grants.h"
#include "support/clock.h"
#include "view/payload_json.h"

namespace ebb::cli {

namespace {

using nlohmann::ordered_json;
using server::GrantBook;

[[noreturn]] void refuse(const std::string& message) {
    throw Error(ErrorCode::InvalidArgument, message);
}

std::string joined(const ordered_json& texts) {
    return fmt::format("{}", fmt::join(texts.get<std::vector<std::string>>(), ", "));
}

int list_projects(Session& session, GrantBook& book) {
    const auto projects = book.projects();
    if (session.options().is_json) {
        session.print_json(projects);
        return kOk;
    }
    const Style& style = session.out();
    Table table({style.dim("NAME"), style.dim("WORKFLOWS"), style.dim("QUEUES"), style.dim("TITLE")}
    );
    for (const auto& project : projects) {
        const ordered_json& title = project.at("title");
        table.add(
            {project.at("name").get<std::string>(),
             joined(project.at("workflows")),
             joined(project.at("queues")),
             title.is_string() ? title.get<std::string>() : ""}
        );
    }
    session.print(table.text(session.columns(), style.glyphs().ellipsis));
    return kOk;
}

int list_grants(Session& session, GrantBook& book) {
    const auto grants = book.grants();
    if (session.options().is_json) {
        session.print_json(grants);
        return kOk;
    }
    const Style& style = session.out();
    Table table({style.dim("ID"), style.dim("SUBJECT"), style.dim("ROLE"), style.dim("PROJECT")});
    for (const auto& grant : grants) {
        table.add(
            {grant.at("id").get<std::string>(),
             grant.at("subject").get<std::string>(),
             grant.at("role").get<std::string>(),
             grant.at("project").get<std::string>()}
        );
    }
    session.print(table.text(session.columns(), style.glyphs().ellipsis));
    return kOk;
}

int report_put(Session& session, const GrantBook::Put& put, const std::string& what) {
    if (session.options().is_json) {
        session.print_json(put.view);
        return kOk;
    }
    session.note(fmt::format("{} was {}.\n", what, put.is_new ? "created" : "changed"));
    return kOk;
}

server::Grant grant_of(const GrantOptions& options) {
    const auto role = server::parse_role(options.given.role);
    if (!role) refuse("`ebb grant set` needs --role.");
    server::Grant grant{.id = options.id, .subject = options.subject, .role = *role};
    if (!options.given.project.empty()) grant.project = options.given.project;
    grant.decision_roles = options.given.decision_roles;
    grant.handlers = options.given.handlers;
    grant.queues = options.given.queues;
    grant.may_act_as = options.given.may_act_as;
    return grant;
}

int verify(Session& session, AdminStore& admin, const AuditOptions& options) {
    const server::AuditVerdict verdict = server::verify_audit(admin, options.anchors);
    if (session.options().is_json) {
        ordered_json faults = ordered_json::array();
        for (const server::AuditFault& fault : verdict.faults) {
            faults.push_back({{"row", fault.row}, {"what", fault.what}});
        }
        session.print_json(ordered_json{
            {"rows", verdict.rows},
            {"chains", verdict.chains},
            {"purged_before", view::time_json(verdict.cut_before)},
            {"faults", std::move(faults)},
        });
    } else {
        for (const server::AuditFault& fault : verdict.faults) {
            session.print(fmt::format("{}  {}\n", fault.row.empty() ? "-" : fault.row, fault.what));
        }
        session.print(fmt::format(
            "{} {} in {} {}: {}\n",
            verdict.rows,
            verdict.rows == 1 ? "row" : "rows",
            verdict.chains,
            verdict.chains == 1 ? "chain" : "chains",
            verdict.faults.empty() ? "as they were written" : "not as they were written"
        ));
        if (verdict.cut_before != TimePoint{}) {
            session.print(fmt::format(
                "Rows before {} were removed because they were old.\n",
                format_time(verdict.cut_before)
            ));
        }
    }
    return verdict.faults.empty() ? kOk : kEndedBadly;
}

}  // namespace

int manage_projects(Session& session, const ProjectOptions& options) {
    const auto admin = open_shared_admin(session);
    GrantBook book(*admin, *session.streams().clock);
    if (options.action == "list") return list_projects(session, book);
    if (options.name.empty()) refuse(fmt::format("`ebb project {}` needs a name.", options.action));
    if (options.action == "set") {
        const auto put = book.put_project(
            {.name = options.name,
             .title = options.title,
             .workflows = options.workflows,
             .queues = options.queues},
            session.by("")
        );
        return report_put(session, put, fmt::format("The project {}", options.name));
    }
    if (options.action != "remove") {
        refuse(fmt::format("\"{}\" is not list, set or remove.", options.action));
    }
    if (!book.remove_project(options.name)) {
        refuse(fmt::format("There is no project \"{}\".", options.name));
    }
    return kOk;
}

int manage_grants(Session& session, const GrantOptions& options) {
    const auto admin = open_shared_admin(session);
    GrantBook book(*admin, *session.streams().clock);
    if (options.action == "list") return list_grants(session, book);
    if (options.id.empty()) refuse(fmt::format("`ebb grant {}` needs an id.", options.action));
    if (options.action == "set") {
        const auto put = book.put_grant(grant_of(options), session.by(""));
        return report_put(session, put, fmt::format("The grant {}", options.id));
    }
    if (options.action != "remove") {
        refuse(fmt::format("\"{}\" is not list, set or remove.", options.action));
    }
    if (!book.remove_grant(options.id)) {
        refuse(fmt::format("There is no grant \"{}\".", options.id));
    }
    return kOk;
}

int show_audit(Session& session, const AuditOptions& options) {
    const auto admin = open_shared_admin(session);
    if (options.purges > Duration::zero()) {
        const auto count = server::purge_audit(
            *admin, *session.streams().clock, nullptr, options.purges, session.by("")
        );
        if (session.options().is_json) {
            session.print_json(ordered_json{{"removed", count}});
        } else {
            session.print(fmt::format("{} rows were removed.\n", count));
        }
        return kOk;
    }
    if (options.verifies) return verify(session, *admin, options);
    const auto rows = admin->list_audit(
        {.principal = options.who,
         .action = options.action,
         .target = options.target,
         .workflows = options.workflow,
         .limit = options.limit}
    );
    if (session.options().is_json) {
        ordered_json items = ordered_json::array();
        for (const AuditRow& row : rows) {
            items.push_back(ordered_json::parse(server::audit_json(row)));
        }
        session.print_json(items);
        return kOk;
    }
    const Style& style = session.out();
    Table table(
        {style.dim("AT"),
         style.dim("WHO"),
         style.dim("ACTION"),
         style.dim("OUTCOME"),
         style.dim("TARGET")}
    );
    for (const AuditRow& row : rows) {
        table.add({format_time(row.at), row.principal, row.action, row.outcome, row.target});
    }
    session.print(table.text(session.columns(), style.glyphs().ellipsis));
    return kOk;
}

}  // namespace ebb::cli

#endif
