// `ebb key`: the key that encrypts the secrets in a database.

#ifdef EBB_WITH_SERVER

#include <fmt/format.h>

#include "cli/admin.h"
#include "cli/secret_key.h"
#include "cli/serve_options.h"
#include "server/auth/sealed_rows.h"

namespace ebb::cli {

int manage_key(Session& session, const KeyOptions& options) {
    const auto box = open_secret_box(session, {.key = options.key, .old_key = options.old_key});
    if (box == nullptr) {
        throw Error(
            ErrorCode::InvalidArgument,
            "`ebb key rotate` needs the new key: --key FILE or EBB_KEY; and --old-key FILE, if "
            "there is one."
        );
    }
    const auto admin = open_shared_admin(session);
    const auto store = session.streams().open_store(served_url(session), OpenMode::MustExist);
    const int sealed = server::seal_rows(*store, *admin, box.get());
    if (session.options().is_json) {
        session.print_json({{"encrypted", sealed}});
    } else {
        session.print(
            fmt::format("Encrypted with this key: {} {}.\n", sealed, sealed == 1 ? "row" : "rows")
        );
    }
    return kOk;
}

}  // namespace ebb::cli

#endif
