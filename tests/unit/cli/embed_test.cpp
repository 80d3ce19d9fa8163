// `ebb diagram --embed`: the pictures in pages of Markdown.

#include "cli/payload_argument.h"
#include "cli_world.h"

namespace ebb::cli::testing {
namespace {

struct CliEmbed : ::testing::Test {
    CliWorld world;
    std::string workflow = world.file("order.yaml", "workflow: order\nsteps: [reserve]\n");

    Outcome embed(const std::string& page, const std::vector<std::string>& more = {}) {
        std::vector<std::string> words = {"diagram", "--embed", page};
        words.insert(words.end(), more.begin(), more.end());
        return world.run(words);
    }

    static std::string read(const std::string& path) { return read_file(path, 1'000'000); }
};

TEST_F(CliEmbed, the_picture_is_drawn_between_the_comments) {
    const std::string page =
        world.file("page.md", "# A\n\n<!-- ebb: order.yaml -->\nold\n<!-- /ebb -->\n\nB\n");
    EXPECT_EQ(embed(page, {"--check"}).code, 1) << "it is old";
    EXPECT_EQ(read(page).find("mermaid"), std::string::npos) << "a check changes nothing";
    EXPECT_EQ(embed(page).code, 0);
    const std::string text = read(page);
    EXPECT_TRUE(text.starts_with("# A\n\n<!-- ebb: order.yaml -->\n```mermaid\n")) << text;
    EXPECT_TRUE(text.ends_with("```\n<!-- /ebb -->\n\nB\n")) << text;
    EXPECT_NE(text.find("reserve"), std::string::npos);
    EXPECT_EQ(text.find("old"), std::string::npos);
    EXPECT_EQ(embed(page, {"--check"}).code, 0);
    world.file("order.yaml", "workflow: order\nsteps: [reserve, charge]\n");
    const Outcome old = embed(page, {"--check"});
    EXPECT_EQ(old.code, 1);
    EXPECT_NE(old.err.find("page.md has an old picture"), std::string::npos) << old.err;
}

TEST_F(CliEmbed, a_block_of_code_about_it_is_left_alone) {
    const std::string code = "```markdown\n<!-- ebb: none.yaml -->\n<!-- /ebb -->\n```\n";
    const std::string page =
        world.file("page.md", code + "<!-- ebb: order.yaml -->\n<!-- /ebb -->\n");
    EXPECT_EQ(embed(page).code, 0);
    EXPECT_TRUE(read(page).starts_with(code));
}

TEST_F(CliEmbed, what_cannot_be_drawn_changes_nothing) {
    world.file("wrong.yaml", "workflow: a\nsteps: 7\n");
    for (const std::string& text :
         {std::string("no place\n"),
          std::string("<!-- ebb: order.yaml -->\nno end\n"),
          std::string("<!-- ebb: wrong.yaml -->\n<!-- /ebb -->\n"),
          std::string("<!-- ebb: none.yaml -->\n<!-- /ebb -->\n")}) {
        const std::string page = world.file("page.md", text);
        EXPECT_EQ(embed(page).code, 2) << text;
        EXPECT_EQ(read(page), text);
    }
    EXPECT_EQ(embed("order.yaml", {"-f", "svg"}).code, 2);
    EXPECT_EQ(world.run({"diagram", "--check", workflow}).code, 2);
    EXPECT_EQ(world.run({"diagram"}).code, 2);
}

}  // namespace
}  // namespace ebb::cli::testing
