// `ebb session`: the logins of browsers on the servers of a database.

#ifdef EBB_WITH_SERVER

#include <fmt/format.h>

#include "cli/admin.h"
#include "cli/serve_options.h"
#include "cli/table.h"
#include "cli/text.h"
#include "server/auth/access.h"

namespace ebb::cli {

namespace {

using nlohmann::ordered_json;
using server::Access;

[[noreturn]] void refuse(const std::string& message) {
    throw Error(ErrorCode::InvalidArgument, message);
}

/// One line: it comes from a browser.
std::string shown(const ordered_json& session, const char* name) {
    const ordered_json& value = session.at(name);
    return value.is_string() ? one_line(value.get<std::string>()) : "";
}

int list(Session& session, Access& access, const std::string& user) {
    auto sessions = access.sessions(user, server::Principal());
    // There is no current one: this command has no session.
    for (ordered_json& each : sessions) each.erase("is_current");
    if (session.options().is_json) {
        session.print_json(sessions);
        return kOk;
    }
    if (sessions.empty()) {
        session.note("There are no sessions.\n");
        return kOk;
    }
    const Style& style = session.out();
    Table table(
        {style.dim("ID"),
         style.dim("WHO"),
         style.dim("BY"),
         style.dim("SEEN"),
         style.dim("ADDRESS"),
         style.dim("BROWSER")}
    );
    for (const ordered_json& each : sessions) {
        table.add(
            {shown(each, "id"),
             shown(each, "principal"),
             shown(each, "method"),
             shown(each, "seen_at"),
             shown(each, "address"),
             shown(each, "agent")}
        );
    }
    session.print(table.text(session.columns(), style.glyphs().ellipsis));
    return kOk;
}

int end(Session& session, Access& access, const SessionOptions& options) {
    if (options.id.empty() == options.user.empty()) {
        refuse("`ebb session end` needs the id of a session, or --user for all of one user.");
    }
    std::vector<std::string> ids{options.id};
    if (options.id.empty()) {
        ids.clear();
        for (const ordered_json& each : access.sessions(options.user, server::Principal())) {
            ids.push_back(each.at("id").get<std::string>());
        }
    }
    int ended = 0;
    for (const std::string& id : ids) ended += access.end_session(id, "") ? 1 : 0;
    if (!options.id.empty() && ended == 0) {
        refuse(fmt::format("There is no session \"{}\".", one_line(options.id)));
    }
    if (session.options().is_json) {
        session.print_json({{"ended", ended}});
    } else {
        session.note(fmt::format("Ended: {}. Every server knows it within 5 seconds.\n", ended));
    }
    return kOk;
}

}  // namespace

int manage_sessions(Session& session, const SessionOptions& options) {
    const auto admin = open_shared_admin(session);
    Access access(*admin, *session.streams().clock);
    if (options.action == "end") return end(session, access, options);
    return list(session, access, options.user);
}

}  // namespace ebb::cli

#endif
