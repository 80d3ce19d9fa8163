// A build without the language server (EBB_WITH_LSP=OFF): `ebb lsp` is refused in one sentence, and
// `ebb validate --lint` does not look for handlers in C++ code.

#include <ebb/error.h>

#include "cli/commands.h"
#include "cli/handler_lint.h"

namespace ebb::cli {

int serve_editor(Session& /*session*/, const LspOptions& /*options*/) {
    throw Error(
        ErrorCode::InvalidArgument,
        "This ebb was built without the language server. Build it with -DEBB_WITH_LSP=ON."
    );
}

std::unique_ptr<HandlerLint> make_handler_lint(Session& /*session*/) {
    return nullptr;
}

}  // namespace ebb::cli
