// The embedded files of the web UI: found by path, whole in every encoding, and within the budget
// of bytes.

#include "server/assets/assets.h"

#include "support/pch.h"

namespace ebb::server {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

#ifdef EBB_UI

TEST(Assets, the_page_and_its_files_are_found_by_path) {
    ASSERT_TRUE(has_ui());
    const Asset* page = find_asset("/index.html");
    ASSERT_NE(page, nullptr);
    EXPECT_EQ(page->type, "text/html; charset=utf-8");
    EXPECT_FALSE(page->is_immutable);
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
    EXPECT_THAT(plain_bytes(*find_asset("/index.html")), StartsWith("<!doctype html>"));
}

TEST(Assets, the_page_names_its_files_below_the_base_path) {
    const std::string at_root = index_page("/");
    const std::string below = index_page("/ebb/");
    EXPECT_THAT(at_root, HasSubstr("\"/assets/index."));
    EXPECT_THAT(below, HasSubstr("\"/ebb/assets/index."));
    EXPECT_THAT(below, HasSubstr("\"/ebb/icon.svg\""));
    EXPECT_THAT(below, Not(HasSubstr("\"/assets/")));
}

TEST(Assets, all_files_together_stay_within_700_kilobytes) {
    std::size_t total = 0;
    for (const Asset& asset : assets()) total += asset.brotli.size();
    EXPECT_LE(total, 700'000u);
}

#else

TEST(Assets, a_build_without_the_ui_has_a_page_that_leads_to_the_api) {
    EXPECT_FALSE(has_ui());
    EXPECT_EQ(find_asset("/index.html"), nullptr);
    EXPECT_THAT(index_page("/"), HasSubstr("\"/api/v1/openapi.json\""));
    EXPECT_THAT(index_page("/ebb/"), HasSubstr("\"/ebb/api/v1/openapi.json\""));
}

#endif

}  // namespace
}  // namespace ebb::server
