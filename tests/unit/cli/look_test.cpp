// The commands that look: what they print for people and for machines.

#include <algorithm>

#include <nlohmann/json.hpp>

#include "cli_world.h"
#include "workflows.h"

namespace ebb::cli::testing {
namespace {

TEST(CliLook, list_is_a_table_with_the_newest_first) {
    CliWorld world;
    started(world, kHello, {"-i", "\"a\"", "--key", "first"});
    started(world, kSignal);
    world.run_db({"worker", "--allow-exec", "--once", "-q"});
    const Outcome list = world.run_db({"list"});
    EXPECT_EQ(list.code, 0);
    EXPECT_EQ(
        normal(world, list.out),
        "ID WORKFLOW STATUS STARTED KEY DETAILS\n"
        "<short> parcel v1 ◷ waiting <ago> signal delivered\n"
        "<short> hello v1 ✓ completed <ago> first took <t>\n"
    );
}

// ESC, DEL, C1 (U+009B) and a right-to-left override: each as data and as an argument.
const std::string kHostile = "k\x1b[2J\x7f\xc2\x9b\xe2\x80\xae.";

bool is_safe(const std::string& text) {
    const bool has_control = std::any_of(text.begin(), text.end(), [](char c) {
        const auto byte = static_cast<unsigned char>(c);
        return (byte < 0x20 && c != '\n') || byte == 0x7f;
    });
    return !has_control && text.find("\xc2\x9b") == std::string::npos &&
           text.find("\xe2\x80\xae") == std::string::npos;
}

TEST(CliLook, nothing_that_a_terminal_would_obey_comes_out_of_data) {
    CliWorld world;
    const std::string input = nlohmann::json(kHostile).dump();
    const std::string id = started(world, kHello, {"-i", input, "--key", kHostile});
    world.run_db({"worker", "--allow-exec", "--once", "-q"});
    for (const std::vector<std::string>& args : std::vector<std::vector<std::string>>{
             {"list"},
             {"list", "--json"},
             {"show", id, "--payloads"},
             {"show", id, "--json"},
             {"history", id, "--payloads"},
             {"history", id, "--json"},
             {"start", "hello", "-i", input, "--key", kHostile},
         }) {
        const Outcome outcome = world.run_db(args);
        EXPECT_EQ(outcome.code, 0) << outcome.err;
        EXPECT_TRUE(is_safe(outcome.out)) << args.front() << args.back() << outcome.out;
        EXPECT_TRUE(is_safe(outcome.err)) << args.front() << args.back() << outcome.err;
    }
}

TEST(CliLook, errors_do_not_echo_arguments_that_a_terminal_would_obey) {
    CliWorld world;
    started(world, kHello);
    for (const std::vector<std::string>& args : std::vector<std::vector<std::string>>{
             {kHostile},
             {"list", "--" + kHostile},
             {"list", "-w", kHostile, "--json", "-s", kHostile},
             {"show", kHostile},
             {"start", kHostile},
             {"validate", kHostile},
             {"history", kHostile, "--json"},
             {"list", "--db", kHostile + "/none.db"},
             {"list", "--db", "mysql" + kHostile + "://x"},
         }) {
        const Outcome outcome =
            args.size() > 1 && args[1] == "--db" ? world.run(args) : world.run_db(args);
        EXPECT_NE(outcome.code, 0);
        EXPECT_TRUE(is_safe(outcome.out + outcome.err)) << args.front() << outcome.err;
    }
}

TEST(CliLook, list_filters_and_pages) {
    CliWorld world;
    const std::string hello = started(world, kHello, {"-i", "\"a\"", "--key", "k"});
    const std::string parcel = started(world, kSignal);
    const auto ids = [&](std::vector<std::string> args) {
        args.insert(args.begin(), {"list", "--ids"});
        return world.run_db(args).out;
    };
    EXPECT_EQ(ids({}), parcel + "\n" + hello + "\n");
    EXPECT_EQ(ids({"-w", "hello"}), hello + "\n");
    EXPECT_EQ(ids({"--key", "k"}), hello + "\n");
    EXPECT_EQ(ids({"-s", "completed,failed"}), "");
    EXPECT_EQ(ids({"--version", "2"}), "");
    EXPECT_EQ(ids({"--limit", "1"}), parcel + "\n");
    EXPECT_EQ(ids({"--json"}), "[\"" + parcel + "\",\"" + hello + "\"]\n");
    EXPECT_EQ(world.run_db({"workflows", "--names", "--json"}).out, "[\"hello\",\"parcel\"]\n");
    EXPECT_EQ(ids({"--before", parcel}), hello + "\n");
    const Outcome cut = world.run_db({"list", "--limit", "1"});
    EXPECT_NE(cut.err.find("--before " + parcel.substr(28)), std::string::npos);
    EXPECT_EQ(world.run_db({"list", "-s", "done"}).code, 2);
    EXPECT_EQ(ids({"--sort", "created"}), hello + "\n" + parcel + "\n");
    EXPECT_EQ(ids({"--sort", "-created"}), ids({}));
    EXPECT_EQ(ids({"--after", hello}), parcel + "\n");
    EXPECT_EQ(
        ids({"--sort", "created", "--after", hello, "--where", "version == 1"}), parcel + "\n"
    );
    EXPECT_EQ(ids({"--sort", "created", "--since", "1h", "--before", parcel}), hello + "\n");
    EXPECT_EQ(ids({"--sort", "created", "--waiting", "signal"}), parcel + "\n");
    const Outcome oldest = world.run_db({"list", "--sort", "created", "-n", "1"});
    EXPECT_NE(oldest.err.find("The oldest 1."), std::string::npos) << oldest.err;
    EXPECT_NE(oldest.err.find("--after " + hello.substr(28)), std::string::npos) << oldest.err;
    EXPECT_EQ(world.run_db({"list", "--sort", "key"}).code, 2);
}

TEST(CliLook, list_says_what_an_instance_waits_for) {
    CliWorld world;
    const std::string approval = started(world, kApproval);
    const std::string parcel = started(world, kSignal);
    const std::string saga = started(world, kSaga);
    const std::string dead = started(world, kFrozen, {"-i", "{}"});
    world.run_db({"worker", "--allow-exec", "--once", "-q"});
    const std::string work = R"(workflow: far
steps:
  - {step: ship, handler: ship_abroad}
)";
    const std::string far = started(world, work);
    world.run_db({"start", "parcel"});
    const std::string text = normal(world, world.run_db({"list"}).out);
    EXPECT_THAT(text, ::testing::HasSubstr("far v1 ◷ waiting <ago> no worker has ship_abroad\n"));
    EXPECT_THAT(text, ::testing::HasSubstr("frozen v1 ■ dead_letter <ago> work: exit_1"));
    EXPECT_THAT(text, ::testing::HasSubstr("saga v1 ✗ failed <ago> charge: exit_65"));
    EXPECT_THAT(text, ::testing::HasSubstr("parcel v1 ◷ waiting <ago> signal delivered\n"));
    EXPECT_THAT(text, ::testing::HasSubstr("approval v1 ◷ waiting <ago> decision boss\n"));
    const auto ids = [&](std::vector<std::string> args) {
        args.insert(args.begin(), {"list", "-o", "name"});
        return world.run_db(args).out;
    };
    EXPECT_EQ(ids({"--waiting", "person"}), approval + "\n");
    EXPECT_EQ(ids({"--waiting", "worker"}), far + "\n");
    EXPECT_EQ(ids({"--handler", "ship_abroad"}), far + "\n");
    EXPECT_EQ(ids({"--error", "DECLINED"}), saga + "\n");
    EXPECT_EQ(ids({"--error", "exit_1"}), dead + "\n");
    EXPECT_EQ(ids({"-s", "waiting", "-w", "approval"}), approval + "\n");
    EXPECT_EQ(ids({"--waiting", "timer"}), "");
}

TEST(CliLook, list_knows_times) {
    CliWorld world;
    const std::string id = started(world, kSignal);
    const auto ids = [&](std::vector<std::string> args) {
        args.insert(args.begin(), {"list", "-o", "name"});
        return world.run_db(args).out;
    };
    EXPECT_EQ(ids({"--since", "1h"}), id + "\n");
    EXPECT_EQ(ids({"--since", "2999-01-01"}), "");
    EXPECT_EQ(ids({"--until", "1h"}), "");
    EXPECT_EQ(ids({"--until", "2999-01-01T00:00:00Z"}), id + "\n");
    EXPECT_EQ(ids({"--since", "yesterday", "--until", "0s"}), id + "\n");
    EXPECT_EQ(world.run_db({"list", "--since", "soon"}).code, 2);
    EXPECT_EQ(world.run_db({"list", "--since", "2027-02-30"}).code, 2);
}

TEST(CliLook, results_come_in_several_formats) {
    CliWorld world;
    const std::string first = started(world, kSignal, {"--key", "yes"});
    const std::string second = started(world, kSignal);
    const auto out = [&](const std::string& format) {
        return world.run_db({"list", "-o", format}).out;
    };
    EXPECT_EQ(out("json"), world.run_db({"list", "--json"}).out);
    const std::string lines = out("jsonl");
    EXPECT_EQ(Json::parse(line_of(lines, 0))["id"], second);
    EXPECT_EQ(Json::parse(line_of(lines, 1))["id"], first);
    EXPECT_THAT(out("yaml"), ::testing::HasSubstr(second));
    EXPECT_THAT(out("yaml"), ::testing::HasSubstr("\n---\n"));
    EXPECT_THAT(out("yaml"), ::testing::HasSubstr("workflow: parcel\n"));
    EXPECT_THAT(out("wide"), ::testing::HasSubstr(first));
    EXPECT_EQ(out("name"), second + "\n" + first + "\n");
    EXPECT_EQ(world.run_db({"list", "--json", "-o", "wide"}).code, 2);
}

TEST(CliLook, list_of_an_unknown_workflow_is_an_error) {
    CliWorld world;
    started(world, kSignal);
    const Outcome outcome = world.run_db({"list", "-w", "parcle"});
    EXPECT_EQ(outcome.code, 3);
    EXPECT_THAT(outcome.err, ::testing::HasSubstr("There is no workflow \"parcle\"."));
}

TEST(CliLook, list_without_instances_says_so_on_stderr) {
    CliWorld world;
    world.run_db({"worker", world.file("h.yaml", kHello), "--once", "-q"});
    const Outcome list = world.run_db({"list"});
    EXPECT_EQ(list.out, "");
    EXPECT_EQ(list.err, "No instances.\n");
    EXPECT_EQ(world.run_db({"list", "--json"}).out, "[]\n");
}

TEST(CliLook, list_json_has_the_documented_fields) {
    CliWorld world;
    started(world, kSignal, {"--priority", "5"});
    const Json json = Json::parse(world.run_db({"list", "--json"}).out);
    ASSERT_EQ(json.size(), 1U);
    for (const char* field :
         {"id",
          "workflow",
          "version",
          "key",
          "status",
          "priority",
          "revision",
          "created_at",
          "updated_at",
          "finished_at",
          "error",
          "waiting_for"}) {
        EXPECT_TRUE(json[0].contains(field)) << field;
    }
    EXPECT_EQ(json[0]["priority"], 5);
    EXPECT_TRUE(json[0]["key"].is_null());
    EXPECT_TRUE(json[0]["finished_at"].is_null());
}

TEST(CliLook, show_is_a_timeline_with_compensations) {
    CliWorld world;
    const std::string id = started(world, kSaga, {"--key", "o-1", "-i", "{\"amount\":1}"});
    world.run_db({"worker", "--allow-exec", "--once", "-q"});
    const Outcome show = world.run_db({"show", id});
    EXPECT_EQ(show.code, 0);
    EXPECT_EQ(
        normal(world, show.out),
        "✗ failed saga v1 <short> <ago>, took <t>\n"
        "  charge: exit_65: the card was declined (the program \"sh\" of the handler \"charge\" "
        "exited with code 65)\n"
        "  id <id>\n"
        "  key o-1\n"
        "  started <time>\n"
        "  ended <time>\n"
        "  input {\"amount\":1}\n"
        "\n"
        "  ↩ reserve compensated +<t> <t> {\"amount\":1}\n"
        "    ↩ undo done +<t> <t>\n"
        "  ✗ charge failed +<t> <t> exit_65\n"
    );
}

TEST(CliLook, show_groups_branches_and_folds_the_turns_of_loops) {
    CliWorld world;
    const std::string id = started(
        world,
        R"(workflow: shapes
handlers:
  work: {exec: [cat]}
  undo: {exec: ['true']}
  count: {exec: [jq, -c, '{n: ((.n? // 0) + 1)}']}
  fail: {exec: [sh, -c, 'echo no >&2; exit 9'], permanent_exit_codes: [9]}
steps:
  - loop: again
    max_iterations: 9
    while: "!has(input.n) || input.n < 8"
    do: [count]
  - parallel: both
    branches:
      left: [{step: left, handler: work}]
      right: [{step: r, handler: work}]
  - {step: fail, compensate: undo}
)",
        {"-i", "{}"}
    );
    world.run_db({"worker", "--allow-exec", "--once", "-q"});
    const std::string text = normal(world, world.run_db({"show", id}).out);
    EXPECT_THAT(text, ::testing::HasSubstr("again completed"));
    EXPECT_THAT(text, ::testing::HasSubstr("    turn 1\n"));
    EXPECT_THAT(text, ::testing::HasSubstr("    … 5 turns more: --all\n"));
    EXPECT_THAT(text, ::testing::HasSubstr("    turn 8\n"));
    EXPECT_THAT(text, ::testing::HasSubstr("    left\n"));
    EXPECT_THAT(text, ::testing::HasSubstr("✗ fail failed, then undone"));
    const std::string all = world.run_db({"show", id, "--all"}).out;
    EXPECT_THAT(all, ::testing::HasSubstr("    turn 4\n"));
    // The history names the block of a branch, also if its beginning is not shown.
    EXPECT_THAT(world.run_db({"history", id}).out, ::testing::HasSubstr(" both:left/left "));
    for (const Json& event : Json::parse(world.run_db({"history", id, "--json"}).out)) {
        if (event["type"] != "scope_opened") continue;
        const std::string after = std::to_string(event["seq"].get<int>());
        const Outcome rest = world.run_db({"history", id, "--after", after});
        EXPECT_THAT(rest.out, ::testing::HasSubstr(" both:left/left "));
    }
}

TEST(CliLook, show_says_what_is_awaited) {
    CliWorld world;
    const std::string id = started(world, kApproval);
    world.run_db({"worker", "--allow-exec", "--once", "-q"});
    const Outcome show = world.run_db({"show", id});
    EXPECT_NE(show.out.find("◷ boss"), std::string::npos) << show.out;
    EXPECT_NE(
        show.out.find("Decision \"boss\" waits for the role manager to confirm or reject."),
        std::string::npos
    );
    const Json json = Json::parse(world.run_db({"show", id, "--json"}).out);
    EXPECT_EQ(json["waiting_for"][0]["kind"], "decision");
    EXPECT_EQ(json["waiting_for"][0]["node"], "boss");
}

TEST(CliLook, show_can_print_whole_payloads) {
    CliWorld world;
    const std::string long_text(300, 'x');
    const std::string id = started(world, kHello, {"-i", "\"" + long_text + "\""});
    world.run_db({"worker", "--allow-exec", "--once", "-q"});
    world.is_terminal = true;
    world.environment["NO_COLOR"] = "1";
    EXPECT_EQ(world.run_db({"show", id}).out.find(long_text), std::string::npos);
    world.is_terminal = false;
    EXPECT_NE(world.run_db({"show", id, "--payloads"}).out.find(long_text), std::string::npos);
}

TEST(CliLook, payloads_cannot_control_the_terminal) {
    CliWorld world;
    const std::string id = started(world, kSignal, {"--key", "a\x1b[2Jb"});
    const Outcome show = world.run_db({"show", id});
    EXPECT_EQ(show.out.find('\x1b'), std::string::npos);
    EXPECT_EQ(world.run_db({"list"}).out.find('\x1b'), std::string::npos);
}

TEST(CliLook, history_is_a_table_or_json_lines) {
    CliWorld world;
    const std::string id = started(world, kSaga);
    world.run_db({"worker", "--allow-exec", "--once", "-q"});
    const Outcome table = world.run_db({"history", id});
    EXPECT_EQ(line_of(normal(world, table.out), 0), "SEQ AT EVENT NODE TOOK WORKER DETAILS");
    EXPECT_NE(table.out.find("step_compensated"), std::string::npos);
    const Outcome lines = world.run_db({"history", id, "-o", "jsonl"});
    std::size_t count = 0;
    for (std::string line; !(line = line_of(lines.out, count)).empty(); ++count) {
        EXPECT_EQ(Json::parse(line)["seq"], count + 1);
    }
    EXPECT_GT(count, 4U);
    const Outcome one = world.run_db({"history", id, "--json", "--after", "1", "--limit", "1"});
    EXPECT_EQ(Json::parse(one.out)[0]["seq"], 2);
    // An instance that has ended is followed to its end at once.
    EXPECT_EQ(world.run_db({"history", id, "-f", "--json"}).out, lines.out);
}

TEST(CliLook, why_is_a_sentence) {
    CliWorld world;
    const std::string id = started(world, kSignal);
    world.run_db({"worker", "--allow-exec", "--once", "-q"});
    EXPECT_EQ(
        world.run_db({"why", id}).out,
        "The instance is running. \"delivered\" waits for the signal \"delivered\".\n"
    );
    const Json json = Json::parse(world.run_db({"why", id, "--json"}).out);
    EXPECT_EQ(json["id"], id);
}

TEST(CliLook, workflows_lists_versions_and_counts_instances) {
    CliWorld world;
    started(world, kSignal);
    EXPECT_EQ(
        normal(world, world.run_db({"workflows"}).out),
        "WORKFLOW VERSION REGISTERED INSTANCES\nparcel 1 <ago> 1 running\n"
    );
    EXPECT_EQ(world.run_db({"workflows", "--names"}).out, "parcel\n");
    const Json json = Json::parse(world.run_db({"workflows", "--json"}).out);
    EXPECT_EQ(json[0]["name"], "parcel");
    EXPECT_EQ(json[0]["instances"]["running"], 1);
    EXPECT_EQ(json[0]["instances_of_all_versions"]["running"], 1);
}

TEST(CliLook, workflows_counts_each_version_on_its_own) {
    CliWorld world;
    const std::string first = started(world, kSignal);
    started(world, kSignal);
    const std::string newer = "version: 2\n" + std::string(kSignal);
    started(world, newer);
    world.run_db({"cancel", first});
    EXPECT_EQ(
        normal(world, world.run_db({"workflows"}).out),
        "WORKFLOW VERSION REGISTERED INSTANCES\n"
        "parcel 1 <ago> 1 running, 1 cancelled\n"
        "parcel 2 <ago> 1 running\n"
    );
    const Json json = Json::parse(world.run_db({"workflows", "--json"}).out);
    EXPECT_EQ(json[0]["instances"], Json::parse(R"({"running":1,"cancelled":1})"));
    EXPECT_EQ(json[1]["instances"], Json::parse(R"({"running":1})"));
    EXPECT_EQ(json[1]["instances_of_all_versions"]["running"], 2);
}

TEST(CliLook, a_version_without_instances_has_none) {
    CliWorld world;
    const std::string old = world.file("old.yaml", kSignal);
    world.run_db({"worker", "--allow-exec", "--once", "-q", old});
    const std::string newer = "version: 2\n" + std::string(kSignal);
    started(world, newer);
    const std::string text = normal(world, world.run_db({"workflows"}).out);
    EXPECT_EQ(line_of(text, 1), "parcel 1 <ago> none");
    EXPECT_EQ(line_of(text, 2), "parcel 2 <ago> 1 running");
}

TEST(CliLook, history_names_the_worker_of_an_event) {
    CliWorld world;
    const std::string id = started(world, kSaga);
    world.run_db({"worker", "--allow-exec", "--once", "-q", "--id", "shop-7"});
    EXPECT_THAT(world.run_db({"history", id}).out, ::testing::HasSubstr("shop-7"));
}

TEST(CliLook, wait_tells_the_end_by_its_exit_code) {
    CliWorld world;
    const std::string id = started(world, kSignal);
    const Outcome early = world.run_db({"wait", id, "--timeout", "1ms"});
    EXPECT_EQ(early.code, 6);
    EXPECT_EQ(early.out, "running\n");
    world.run_db({"cancel", id});
    const Outcome wait = world.run_db({"wait", id});
    EXPECT_EQ(wait.code, 1);
    EXPECT_EQ(wait.out, "cancelled\n");
    EXPECT_EQ(Json::parse(world.run_db({"wait", id, "--json"}).out)["status"], "cancelled");
}

TEST(CliLook, an_instance_is_named_in_three_ways) {
    CliWorld world;
    const std::string first = started(world, kSignal, {"--key", "a/b"});
    const std::string second = started(world, kSignal);
    const auto code = [&](const std::string& name) { return world.run_db({"show", name}).code; };
    EXPECT_EQ(code(first), 0);
    EXPECT_EQ(code("key:parcel/a/b"), 0);
    EXPECT_EQ(code(first.substr(0, 35)), 0);
    std::string upper = first;
    for (char& c : upper) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    EXPECT_EQ(code(upper), 0);
    const Outcome ambiguous = world.run_db({"show", first.substr(0, 4)});
    EXPECT_EQ(ambiguous.code, 2);
    EXPECT_NE(ambiguous.err.find("\n  " + first + "  parcel v1  running"), std::string::npos);
    EXPECT_NE(ambiguous.err.find("\n  " + second), std::string::npos);
    EXPECT_EQ(code(first.substr(28)), 0);
    EXPECT_EQ(code(second.substr(24, 10)), 0);
    EXPECT_EQ(
        world.run_db({"why", "@1", "--json"}).out, world.run_db({"why", second, "--json"}).out
    );
    EXPECT_EQ(
        world.run_db({"why", "@2", "--json"}).out, world.run_db({"why", first, "--json"}).out
    );
    EXPECT_EQ(code("@3"), 3);
    EXPECT_EQ(code("@0"), 2);
    EXPECT_EQ(code("@1001"), 2);
    EXPECT_EQ(code("0000000000000000"), 3);
    EXPECT_EQ(code("00000000-0000-7000-8000-000000000000"), 3);
    EXPECT_EQ(code("key:parcel/none"), 3);
    EXPECT_EQ(code("key:parcel"), 2);
    EXPECT_EQ(code("abc"), 2);
    EXPECT_EQ(code("not-an-id"), 2);
}

TEST(CliLook, a_diagram_is_of_a_file_or_of_an_instance) {
    CliWorld world;
    const std::string file = world.file("saga.yaml", kSaga);
    const Outcome text = world.run({"diagram", file});
    EXPECT_EQ(text.code, 0);
    EXPECT_NE(text.out.find("reserve"), std::string::npos);
    EXPECT_NE(
        world.run({"diagram", file, "-f", "mermaid"}).out.find("flowchart"), std::string::npos
    );
    EXPECT_NE(world.run({"diagram", file, "-f", "dot"}).out.find("digraph"), std::string::npos);
    EXPECT_EQ(world.run({"diagram", file, "-o", world.path("a.svg")}).code, 0);
    const Outcome inside = world.run({"diagram", world.path("a.svg"), "-o", world.path("b.svg")});
    EXPECT_EQ(inside.code, 2);
    EXPECT_EQ(world.run({"diagram", file, "-o", world.path("none/a.svg")}).code, 74);
    const std::string id = started(world, kSaga);
    world.run_db({"worker", "--allow-exec", "--once", "-q"});
    const Outcome marked = world.run_db({"diagram", id});
    EXPECT_NE(marked.out.find("declined"), std::string::npos) << marked.out;
    EXPECT_NE(marked.out, text.out);
    world.run_db({"start", file, "--key", "k"});
    EXPECT_EQ(world.run_db({"diagram", "key:saga/k"}).code, 0);
}

}  // namespace
}  // namespace ebb::cli::testing
