#include "server/assets/assets.h"

// The bytes come into the program by the assembler: an array in C++ would take seconds to compile.
asm(".section .rodata\n"
    ".balign 16\n"
    "ebb_ui_assets_begin:\n"
    ".incbin \"" EBB_UI_BLOB
    "\"\n"
    "ebb_ui_assets_end:\n"
    ".byte 0\n"
    ".text\n");

extern "C" {
extern const char kBlob[] asm("ebb_ui_assets_begin");
}

namespace ebb::server {

namespace {

struct Row {
    std::string_view path;
    std::string_view type;
    std::string_view etag;
    bool is_immutable;
    std::size_t size;
    std::size_t brotli_at;
    std::size_t brotli_size;
    std::size_t gzip_at;
    std::size_t gzip_size;
};

// The table is empty if the packages of the UI could not be fetched (ui/scripts/build.mjs), and an
// array may not be: hence a last row that is no asset.
constexpr Row kRows[] = {
#include "assets_table.inc"
    {},
};

constexpr std::size_t kAssets = std::size(kRows) - 1;

struct Table {
    Asset assets[kAssets + 1];
};

Table make_table() {
    Table table;
    for (std::size_t i = 0; i < kAssets; ++i) {
        const Row& row = kRows[i];
        table.assets[i] = {
            .path = row.path,
            .type = row.type,
            .etag = row.etag,
            .is_immutable = row.is_immutable,
            .size = row.size,
            .brotli = {kBlob + row.brotli_at, row.brotli_size},
            .gzip = {kBlob + row.gzip_at, row.gzip_size}
        };
    }
    return table;
}

}  // namespace

std::span<const Asset> assets() {
    static const Table table = make_table();
    return {table.assets, kAssets};
}

}  // namespace ebb::server
