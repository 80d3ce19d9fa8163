// The embedded files of the web UI: found by path, whole in every encoding, and within the budget
// of bytes.

#include "server/assets/assets.h"

#include "support/pch.h"

namespace ebb::server {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

// A build without Node has no files, and each of these holds for it as well.

TEST(Assets, every_file_is_found_by_its_path) {
    for (const Asset& asset : assets()) {
        EXPECT_EQ(find_asset(asset.path), &asset);
        EXPECT_EQ(asset.is_immutable, asset.path.starts_with("/assets/")) << asset.path;
        EXPECT_EQ(asset.etag.size(), 16u);
    }
}

TEST(Assets, what_does_not_exist_is_not_found) {
    for (const char* path :
         {"", "/", "/index", "/index.html/", "/assets/", "/assets/none.js", "/zzz"}) {
        EXPECT_EQ(find_asset(path), nullptr) << path;
    }
}

TEST(Assets, every_file_unpacks_to_its_size) {
    for (const Asset& asset : assets()) {
        EXPECT_EQ(plain_bytes(asset).size(), asset.size) << asset.path;
        EXPECT_GT(asset.brotli.size(), 0u);
        EXPECT_LE(asset.brotli.size(), asset.gzip.size() + 64) << asset.path;
    }
}

TEST(Assets, the_page_is_there_in_a_build_with_the_ui_only) {
    const Asset* page = find_asset("/index.html");
    ASSERT_EQ(page != nullptr, has_ui());
    if (page == nullptr) return;
    EXPECT_EQ(page->type, "text/html; charset=utf-8");
    EXPECT_FALSE(page->is_immutable);
    EXPECT_THAT(plain_bytes(*page), StartsWith("<!doctype html>"));
}

TEST(Assets, the_page_names_the_ui_or_the_api_below_the_base_path) {
    const std::string target = has_ui() ? "/assets/first." : "/api/v1/openapi.json";
    EXPECT_THAT(index_page("/"), HasSubstr("\"" + target));
    EXPECT_THAT(index_page("/ebb/"), HasSubstr("\"/ebb" + target));
    EXPECT_THAT(index_page("/ebb/"), Not(HasSubstr("\"" + target)));
}

TEST(Assets, all_files_together_stay_within_700_kilobytes) {
    std::size_t total = 0;
    for (const Asset& asset : assets()) total += asset.brotli.size();
    EXPECT_LE(total, 700'000u);
}

}  // namespace
}  // namespace ebb::server
