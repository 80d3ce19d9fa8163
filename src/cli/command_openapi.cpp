// `ebb openapi`: the document of the API of this version.

#ifdef EBB_WITH_SERVER

#include "cli/exit_code.h"
#include "cli/serve_options.h"
#include "cli/session.h"
#include "server/openapi.h"

namespace ebb::cli {

int print_openapi(Session& session) {
    // As GET /openapi.json answers, byte for byte.
    session.print(server::openapi_document());
    return kOk;
}

}  // namespace ebb::cli

#endif
