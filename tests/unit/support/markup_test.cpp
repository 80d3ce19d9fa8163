// Goal: no text can become a tag or leave an attribute. Method: every special character, and all
// others unchanged.
#include "support/markup.h"

namespace ebb {
namespace {

TEST(Markup, escapes_what_could_become_a_tag_or_end_an_attribute) {
    EXPECT_EQ(
        escape_markup("<a href=\"x\">Tom & Ann</a>"),
        "&lt;a href=&quot;x&quot;&gt;Tom &amp; Ann&lt;/a&gt;"
    );
}

TEST(Markup, leaves_everything_else_as_it_is) {
    EXPECT_EQ(escape_markup(""), "");
    EXPECT_EQ(escape_markup("it's 5 %, größer\n"), "it's 5 %, größer\n");
    EXPECT_EQ(escape_markup("&lt;"), "&amp;lt;");
}

}  // namespace
}  // namespace ebb
