// Goal: the SVG is well-formed, harmless, accessible and says everything. Method: parse it with a
// strict parser.

#include <algorithm>

#include <gtest/gtest.h>

#include "core/diagram/mark_style.h"
#include "unit/diagram/samples.h"
#include "unit/diagram/xml.h"

namespace ebb::diagram_test {
namespace {

const Sample& sample(const std::string& name) {
    static const std::vector<Sample> kSamples = samples();
    return *std::find_if(kSamples.begin(), kSamples.end(), [&](const Sample& one) {
        return one.name == name;
    });
}

std::string draw(const Sample& sample) {
    return to_svg(sample.definition, sample.options);
}

/// The texts that the reader sees, tooltips excluded.
std::vector<std::string> texts(const XmlElement& svg) {
    std::vector<std::string> found;
    for (const XmlElement* text : find_all(svg, "text")) found.push_back(text->text);
    return found;
}

TEST(SvgParser, refuses_what_is_not_well_formed) {
    EXPECT_EQ(parse_xml("<a b=\"1 &lt; 2\">x<c/></a>").attributes.at("b"), "1 < 2");
    for (const char* bad :
         {"<a>",
          "<a></b>",
          "<a b=\"<\"/>",
          "<a>&</a>",
          "<a>&nope;</a>",
          "<a b=\"1\" b=\"2\"/>",
          "<a>\x01</a>",
          "<a>\xff</a>",
          "<a/><b/>",
          "<a>]]></a>",
          "<a b='1'/>",
          "<a b=1/>"})
        EXPECT_THROW(parse_xml(bad), std::runtime_error) << bad;
}

TEST(Svg, is_well_formed_for_every_sample) {
    for (const Sample& one : samples()) {
        SCOPED_TRACE(one.name);
        EXPECT_EQ(parse_xml(draw(one)).name, "svg");
    }
}

TEST(Svg, is_well_formed_for_every_byte_in_a_name) {
    for (int byte = 0; byte < 256; ++byte) {
        const std::string text = std::string("a") + static_cast<char>(byte) + "b";
        const Definition definition =
            workflow(text, {condition(text, text, {step(text + "1", text, text)})});
        SCOPED_TRACE(byte);
        EXPECT_NO_THROW(parse_xml(to_svg(definition)));
    }
}

TEST(Svg, has_a_title_and_a_description_for_screen_readers) {
    const XmlElement svg = parse_xml(draw(sample("order_running")));
    EXPECT_EQ(svg.attributes.at("role"), "img");
    ASSERT_GE(svg.children.size(), 2U);
    EXPECT_EQ(svg.children[0].name, "title");
    EXPECT_EQ(svg.children[0].text, "order v3");
    EXPECT_EQ(svg.children[1].name, "desc");
    EXPECT_EQ(
        svg.children[1].text,
        "Workflow order v3 with 13 nodes: 3 pending, 2 running, 1 retrying, 1 waiting, "
        "5 completed, 1 skipped. Takes an order, charges the card and ships the parcel"
    );
}

TEST(Svg, follows_the_color_scheme_of_the_reader) {
    const std::string svg = draw(sample("order"));
    EXPECT_NE(svg.find("@media (prefers-color-scheme:dark)"), std::string::npos);
}

TEST(Svg, runs_nothing_and_loads_nothing) {
    for (const Sample& one : samples()) {
        const XmlElement svg = parse_xml(draw(one));
        for (const char* name : {"script", "image", "use", "foreignObject", "a", "b", "iframe"})
            EXPECT_TRUE(find_all(svg, name).empty()) << name;
        for (const char* name : {"g", "path", "rect", "text", "polygon", "circle"})
            for (const XmlElement* element : find_all(svg, name))
                EXPECT_FALSE(element->attributes.contains("id"));
        ASSERT_EQ(find_all(svg, "style").size(), 1U);
        EXPECT_EQ(find_all(svg, "style")[0]->text.find("url("), std::string::npos);
    }
}

TEST(Svg, style_rules_do_not_reach_beyond_the_picture) {
    const XmlElement svg = parse_xml(draw(sample("order_running")));
    const std::string css = find_all(svg, "style")[0]->text;
    for (std::size_t at = 0; at < css.size();) {
        const std::size_t end = css.find('\n', at);
        const std::string line = css.substr(at, end - at);
        at = end + 1;
        if (line.empty() || line == "}" || line.starts_with("@media")) continue;
        EXPECT_TRUE(line.starts_with(".ebb-diagram ")) << line;
    }
}

TEST(Svg, names_the_state_of_a_step_in_words_and_not_only_in_color) {
    for (std::size_t i = 1; i < diagram::kStates; ++i) {
        const auto state = static_cast<StepMark::State>(i);
        DiagramOptions options;
        options.legend = DiagramOptions::Legend::Hide;
        options.marks = StepMarks{{"only", {state, 2, ""}}};
        const XmlElement svg = parse_xml(to_svg(workflow("w", {step("only")}), options));
        const std::string words(diagram::style_of(state).words);
        const std::vector<std::string> shown = texts(svg);
        EXPECT_TRUE(std::any_of(shown.begin(), shown.end(), [&](const std::string& text) {
            return text.starts_with(words + ", ");
        })) << words;
        EXPECT_FALSE(find_all(svg, "path").empty());
    }
}

TEST(Svg, explains_exactly_the_states_that_occur) {
    const std::vector<std::string> shown = texts(parse_xml(draw(sample("order_running"))));
    const auto count = [&](const char* word) {
        return std::count(shown.begin(), shown.end(), std::string(word));
    };
    EXPECT_EQ(count("pending"), 1);
    EXPECT_EQ(count("retrying"), 1);
    EXPECT_EQ(count("compensated"), 0);
    const std::vector<std::string> plain = texts(parse_xml(draw(sample("order"))));
    EXPECT_EQ(std::count(plain.begin(), plain.end(), "pending"), 0);
}

TEST(Svg, cuts_long_texts_and_keeps_them_whole_as_tooltips) {
    const std::string name(128, 'W');
    const XmlElement svg = parse_xml(to_svg(workflow("w", {step(name)})));
    const std::vector<std::string> shown = texts(svg);
    EXPECT_EQ(std::count(shown.begin(), shown.end(), name), 0);
    EXPECT_TRUE(std::any_of(shown.begin(), shown.end(), [](const std::string& text) {
        return text.starts_with("WWW") && text.ends_with("…");
    }));
    const std::vector<const XmlElement*> titles = find_all(svg, "title");
    EXPECT_TRUE(std::any_of(titles.begin(), titles.end(), [&](const XmlElement* title) {
        return title->text.starts_with(name);
    }));
}

TEST(Svg, leaves_compensations_out_on_request) {
    EXPECT_NE(draw(sample("order")).find("payments.refund"), std::string::npos);
    EXPECT_EQ(draw(sample("order_no_compensations")).find("payments.refund"), std::string::npos);
}

}  // namespace
}  // namespace ebb::diagram_test
