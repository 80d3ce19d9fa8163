// What the commands that look print on a narrow terminal: nothing is wider than it, and what is cut
// is said.

#include <algorithm>

#include <nlohmann/json.hpp>

#include "cli/text.h"
#include "cli_world.h"
#include "workflows.h"

namespace ebb::cli::testing {
namespace {

TEST(CliFit, list_fits_80_columns) {
    CliWorld world;
    const std::string name(40, 'w');
    const std::string long_one = "workflow: " + name + R"(
handlers:
  work:
    exec: [sh, -c, 'echo "Something failed, and this text says at length what it was" >&2; exit 1']
steps: [{step: work, max_attempts: 1}]
)";
    started(world, long_one, {"--key", std::string(40, 'k')});
    world.run_db({"worker", "--allow-exec", "--once", "-q"});
    world.is_terminal = true;
    world.environment["NO_COLOR"] = "1";
    for (const int columns : {40, 80, 120}) {
        world.columns = columns;
        const std::string out = world.run_db({"list"}).out;
        for (std::size_t i = 0; !line_of(out, i).empty(); ++i) {
            EXPECT_LE(display_width(line_of(out, i)), columns) << out;
        }
    }
}

int widest_line(std::string_view text) {
    int widest = 0;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        widest = std::max(widest, display_width(text.substr(0, end)));
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return widest;
}

/// The text without line breaks and margins, so that what was folded is found.
std::string unfolded(const std::string& text) {
    std::string all;
    for (const char c : text) {
        if (c != '\n' && c != ' ') all += c;
    }
    return all;
}

constexpr std::string_view kWideRules = R"(workflow: travel_agency
handlers:
  reserve_a_room: {exec: [jq, -c, '{hotel_reservation_status: "reserved in the Grand Hotel"}']}
  cancel_the_room: {exec: [jq, -c, .output]}
rules:
  attributes:
    order_status_of_the_customer: {type: text, external: true}
    hotel_reservation_status: text
  triggers:
    reserve_a_hotel_room_for_the_customer:
      when: order_status_of_the_customer = 'received' and hotel_reservation_status is null
      do: reserve_a_room
      compensate: cancel_the_room
  on_idle: wait
)";

TEST(CliFit, trace_show_and_recover_fit_80_columns_and_cut_nothing) {
    CliWorld world;
    started(world, kWideRules, {"-i", R"({"order_status_of_the_customer": "received"})"});
    ASSERT_EQ(world.run_db({"worker", "--allow-exec", "--once", "-q"}).code, 0);
    const std::string writes = world.run_db({"trace", "@1"}).out;
    EXPECT_NE(writes.find("\"reserved in the Grand Hotel\""), std::string::npos);
    world.is_terminal = true;
    world.environment["NO_COLOR"] = "1";
    world.columns = 80;
    const std::vector<std::vector<std::string>> commands{
        {"trace", "@1"}, {"show", "@1"}, {"recover", "@1", "--to", "1", "--dry-run"}
    };
    for (const std::vector<std::string>& args : commands) {
        const Outcome outcome = world.run_db(args);
        EXPECT_EQ(outcome.code, 0) << outcome.err;
        EXPECT_LE(widest_line(outcome.out), 80) << outcome.out;
        for (const char* part :
             {"reserve_a_hotel_room_for_the_customer",
              "hotel_reservation_status",
              "order_status_of_the_customer"}) {
            EXPECT_NE(unfolded(outcome.out).find(part), std::string::npos) << outcome.out;
        }
    }
    const std::string trace = unfolded(world.run_db({"trace", "@1"}).out);
    EXPECT_NE(trace.find("\"reservedintheGrandHotel\""), std::string::npos) << trace;
}

TEST(CliFit, show_cuts_no_name_and_diff_no_value) {
    CliWorld world;
    const std::string name = "a_step_with_a_name_that_is_longer_than_half_of_a_terminal";
    const std::string value(300, 'v');
    const auto definition = [&](const std::string& last) {
        return "workflow: w\nhandlers:\n  " + name + ": {exec: [cat, '" + value + last +
               "']}\nsteps: [" + name + "]\n";
    };
    const std::string before = world.file("a.yaml", definition("1"));
    const std::string after = world.file("b.yaml", definition("2"));
    const std::string fails = world.file(
        "c.yaml",
        "workflow: w\nhandlers: {" + name + ": {exec: ['false']}}\nsteps: [" + name + "]\n"
    );
    ASSERT_EQ(world.run_db({"start", fails}).code, 0);
    ASSERT_EQ(world.run_db({"worker", "--allow-exec", "--once", "-q"}).code, 0);
    EXPECT_NE(world.run({"diff", before, after}).out.find(value + "2"), std::string::npos);
    world.is_terminal = true;
    world.environment["NO_COLOR"] = "1";
    world.columns = 80;
    EXPECT_LE(widest_line(world.run({"diff", before, after}).out), 80);
    const std::string shown = world.run_db({"show", "@1"}).out;
    EXPECT_LE(widest_line(shown), 80) << shown;
    EXPECT_NE(shown.find(name + "\n"), std::string::npos) << shown;
}

TEST(CliFit, show_and_history_say_how_to_see_what_they_cut) {
    CliWorld world;
    std::string value(600, 'v');
    value += '!';
    started(world, kSignal, {"-i", nlohmann::json(value).dump()});
    world.is_terminal = true;
    world.environment["NO_COLOR"] = "1";
    world.columns = 80;
    for (const char* command : {"show", "history"}) {
        const std::string cut = world.run_db({command, "@1"}).out;
        EXPECT_LE(widest_line(cut), 80) << cut;
        EXPECT_THAT(cut, ::testing::EndsWith("Some texts are cut: -o wide prints all.\n"));
        const std::string wide = world.run_db({command, "@1", "-o", "wide"}).out;
        EXPECT_THAT(wide, ::testing::HasSubstr(value));
        EXPECT_THAT(wide, ::testing::Not(::testing::HasSubstr("Some texts are cut")));
        world.is_terminal = false;
        EXPECT_EQ(world.run_db({command, "@1", "-o", "wide"}).out, wide) << "as in a pipe";
        world.is_terminal = true;
    }
}

TEST(CliFit, show_and_history_give_no_hint_if_all_fits) {
    CliWorld world;
    started(world, kSignal);
    world.is_terminal = true;
    world.columns = 120;
    for (const char* command : {"show", "history"}) {
        EXPECT_THAT(
            world.run_db({command, "@1"}).out, ::testing::Not(::testing::HasSubstr("-o wide"))
        );
    }
}

TEST(CliFit, a_picture_fits_the_terminal) {
    CliWorld world;
    const std::string file = world.file("order.yaml", R"(workflow: order
steps:
  - step: reserve_all_the_items_of_the_order
    handler: warehouse.stock.reserve_all_items
    compensate: warehouse.stock.release
  - condition: is_large
    when: workflow.input.amount > 1000 && workflow.input.country == "NL" && workflow.input.is_new
    then: [{decision: approve, roles: [a_role_with_a_long_name, another_role_with_a_long_name]}]
)");
    const std::string whole = world.run({"diagram", file}).out;
    EXPECT_GT(widest_line(whole), 80);
    world.is_terminal = true;
    world.environment["NO_COLOR"] = "1";
    world.columns = 80;
    for (const char* command : {"diagram", "validate"}) {
        const std::string fitted = world.run({command, file}).out;
        EXPECT_LE(widest_line(fitted), 80) << fitted;
        EXPECT_THAT(unfolded(fitted), ::testing::HasSubstr("warehouse.stock.reserve_all_items"));
    }
}

}  // namespace
}  // namespace ebb::cli::testing
