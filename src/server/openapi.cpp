#include "server/openapi.h"

asm(".section .rodata\n"
    "ebb_openapi_begin:\n"
    ".incbin \"" EBB_OPENAPI_FILE
    "\"\n"
    "ebb_openapi_end:\n"
    ".byte 0\n"
    ".text\n");

extern "C" {
extern const char kOpenapiBegin[] asm("ebb_openapi_begin");
extern const char kOpenapiEnd[] asm("ebb_openapi_end");
}

namespace ebb::server {

std::string_view openapi_document() {
    return {kOpenapiBegin, static_cast<std::size_t>(kOpenapiEnd - kOpenapiBegin)};
}

}  // namespace ebb::server
