import os,subprocess,re
W='./'
R=W+'src/cli/'
def ed(f,*rs,base=R):
    t=open(base+f).read()
    for o,n in rs:
        assert o in t,(f,o[:90])
        t=t.replace(o,n)
    open(base+f,'w').write(t)
# decorator to src/store
subprocess.check_call(['git','mv','tests/support/store_decorator.h','src/store/store_decorator.h'],cwd=W)
t=open(W+'src/store/store_decorator.h').read()
t=t.replace('namespace ebb::testing {','namespace ebb {').replace('}  // namespace ebb::testing','}  // namespace ebb')
open(W+'src/store/store_decorator.h','w').write(t)
open(W+'tests/support/store_decorator.h','w').write('''#pragma once

#include "store/store_decorator.h"

namespace ebb::testing {

using ebb::is_write;
using ebb::StoreDecorator;
using ebb::StoreVerb;

}  // namespace ebb::testing
''')
# run
ed('command_run.cpp',
('          known_handlers_(handlers_of(session.any_store(), plan_.served, plan_.files)),','          known_handlers_(handlers_of(session.any_store(), plan_.served, plan_.files)),\n          store_(session.any_store()),'),
('          engine_(session.any_store(), handlers_, {.threads = options.threads}) {','          engine_(\n              store_,\n              handlers_,\n              {.worker_id = session.is_in_memory() ? std::string() : process_worker_id(),\n               .threads = options.threads}\n          ) {'),
('    Engine engine_;\n    InstanceId id_;','    OneInstanceStore store_;\n    Engine engine_;\n    InstanceId id_;'),
('            is_new_ = started.is_new;\n        }\n','            is_new_ = started.is_new;\n        }\n        store_.set_instance(id_);\n        if (plan_.resumed || !is_new_) store_.take_over_from_the_dead();\n'),
('#include "cli/instance_ref.h"\n','#include "cli/instance_ref.h"\n#include "cli/one_instance_store.h"\n'),
('#include "cli/patience.h"\n','#include "cli/patience.h"\n#include "cli/process_mark.h"\n'),
)
ed('command_worker.cpp',('              {.worker_id = options.id,','              {.worker_id = options.id.empty() ? process_worker_id() : options.id,'),('#include "cli/draining.h"\n','#include "cli/draining.h"\n#include "cli/process_mark.h"\n'))
# signals
ed('command_steer.cpp',('''    engine.signal(id, options.name, std::move(payload), options.request_id);
''','''    check_signal(engine, id, options.name);
    engine.signal(id, options.name, std::move(payload), options.request_id);
'''),('''int signal_instance(Session&''','''namespace {

/// A signal that nothing will ever wait for is a misspelt one.
void check_signal(Engine& engine, const InstanceId& id, const std::string& name) {
    const auto summary = engine.find(id);
    if (!summary) return;
    std::vector<std::string> known;
    const auto definition = engine.definition(summary->workflow, summary->version);
    for (const auto& [node, facts] : index_nodes(*definition)) {
        // A step that pauses waits for a signal with its own name.
        if (node == name || facts.signal == name) return;
        if (!facts.signal.empty()) known.push_back(facts.signal);
    }
    const std::string meant = closest(name, known);
    throw Error(
        ErrorCode::NotWaiting,
        fmt::format(
            "No node of {} v{} waits for the signal \\"{}\\"{}",
            summary->workflow,
            summary->version,
            one_line(name),
            !meant.empty()  ? fmt::format("; did you mean \\"{}\\"?", meant)
            : known.empty() ? std::string("; it waits for no signals.")
                            : fmt::format("; there are \\"{}\\".", fmt::join(known, "\\", \\""))
        )
    );
}

}  // namespace

int signal_instance(Session&'''),('#include "cli/commands.h"\n','#include "cli/commands.h"\n#include "cli/definition_names.h"\n'),('#include "cli/report.h"\n','#include "cli/report.h"\n#include "cli/text.h"\n'))
# start with another input
ed('command_start.cpp',('        session.note(fmt::format("The key \\"{}\\" exists: this is its instance.\\n", options.key));','''        session.note(fmt::format(
            "The key \\"{}\\" exists: this is its instance{}.\\n",
            one_line(options.key),
            has_same_input ? "" : ". It was started with ANOTHER INPUT, which is unchanged"
        ));'''),
('    const std::string id = started.id.to_string();','''    const bool has_same_input = started.is_new || starts_with(engine, started.id, given);
    const std::string id = started.id.to_string();'''),
('        std::move(input),\n','        input,\n'),('    const Target target = target_of','    const Payload given = input;\n    const Target target = target_of'),
('''        session.print_json({
            {"id", id},
            {"is_new", started.is_new},
            {"workflow", target.workflow},
        });''','''        nlohmann::ordered_json json = view::summary_json(*engine.find(started.id));
        json["is_new"] = started.is_new;
        json["has_same_input"] = has_same_input;
        session.print_json(json);'''),
('}  // namespace\n\nint start_instance','''/// Whether the instance was started with this input, whatever the order of its members.
bool starts_with(Engine& engine, const InstanceId& id, const Payload& input) {
    const auto events = engine.history(id, 0, 1);
    return !events.empty() && nlohmann::json::parse(events.front().payload, nullptr, false) ==
                                  nlohmann::json::parse(input, nullptr, false);
}

}  // namespace

int start_instance'''),('#include "cli/payload_argument.h"\n','#include "cli/payload_argument.h"\n#include "cli/text.h"\n'),('#include "cli/waiting.h"\n','#include "cli/waiting.h"\n#include "view/instance_json.h"\n'))
# diagram endings
ed('command_diagram.cpp',('''std::string format_for(const DiagramCommandOptions& options) {
''','''/// A name whose ending promises something else than what would be written.
void check_ending(const std::string& path) {
    for (const std::string_view ending : {".png", ".jpg", ".jpeg", ".gif", ".webp", ".pdf"}) {
        if (!path.ends_with(ending)) continue;
        const std::string stem = path.substr(0, path.size() - ending.size());
        throw Error(
            ErrorCode::InvalidArgument,
            fmt::format(
                "ebb does not write {} files. Write SVG and convert it: `ebb diagram ... -o "
                "{}.svg`, then `rsvg-convert {}-o {} {}.svg` (Debian: librsvg2-bin).",
                ending.substr(1),
                stem,
                ending == ".pdf" ? "-f pdf " : "",
                path,
                stem
            )
        );
    }
}

std::string format_for(const DiagramCommandOptions& options) {
    check_ending(options.output);
'''),('    if (options.output.ends_with(".mmd")) return "mermaid";\n    return "text";','''    if (options.output.ends_with(".mmd")) return "mermaid";
    const bool is_text = options.output.empty() || options.output.ends_with(".txt") ||
                         options.output.find('.', options.output.rfind('/') + 1) == std::string::npos;
    if (is_text) return "text";
    throw Error(
        ErrorCode::InvalidArgument,
        fmt::format(
            "\\"{}\\" does not say which format it has: end it in .svg, .mmd, .dot, .gv or .txt, or "
            "give --format.",
            options.output
        )
    );'''),('    const Picture picture = picture_of(session, options.subject);\n    const std::string format = format_for(options);\n','    const std::string format = format_for(options);\n    const Picture picture = picture_of(session, options.subject);\n'))
# queue show, retention clear
ed('command_queue.cpp',('''    // A queue is there as soon as somebody names it.
    if (views.empty()) views.push_back({.name = name, .limits = {}});
    return views;
}

int show_queues(Session& session, Engine& engine, const std::string& name) {
''','''    // A queue is there as soon as it is named.
    if (views.empty()) views.push_back({.name = name, .limits = {}});
    return views;
}

/// Whether some registered workflow has a step in this queue, so that it is only empty now.
bool is_used(Session& session, const std::string& name) {
    if (name == "default") return true;
    Store& store = session.shared_store("queue", OpenMode::MustExist);
    for (const WorkflowRow& row : store.list_workflows()) {
        const auto whole = store.find_workflow(row.name, row.version);
        if (!whole) continue;
        const auto program = Program::compile(parse_definition_json(whole->definition));
        const auto& nodes = program->nodes();
        if (std::any_of(nodes.begin(), nodes.end(), [&](const ProgramNode& node) {
                return node.queue == name;
            })) {
            return true;
        }
    }
    return false;
}

void require_queue(Session& session, Engine& engine, const std::string& name) {
    std::vector<std::string> names;
    for (const QueueView& view : engine.queues()) names.push_back(view.name);
    if (std::find(names.begin(), names.end(), name) != names.end() || is_used(session, name)) return;
    const std::string meant = closest(name, names);
    refuse(fmt::format(
        "There is no queue \\"{}\\": it has no tasks and no limits, and no registered workflow uses "
        "it.{}",
        one_line(name),
        meant.empty() ? "" : fmt::format(" Did you mean \\"{}\\"?", meant)
    ));
}

int show_queues(Session& session, Engine& engine, const std::string& name) {
'''),('    if (!is_change) return show_queues(session, engine, options.name);','''    if (options.action == "show" || options.action == "clear") {
        require_queue(session, engine, options.name);
    }
    if (!is_change) return show_queues(session, engine, options.name);'''),
('#include <charconv>\n','#include <algorithm>\n#include <charconv>\n'),('#include "cli/text.h"\n','#include "cli/text.h"\n#include "core/kernel/program.h"\n#include "store/store.h"\n'))
ed('command_retention.cpp',('    engine.clear_retention(options.workflow);\n','''    if (!engine.clear_retention(options.workflow)) {
        const bool is_known =
            options.workflow == kOtherWorkflows ||
            session.shared_store("retention", OpenMode::MustExist)
                .find_workflow(options.workflow, std::nullopt)
                .has_value();
        if (!is_known) {
            throw Error(
                ErrorCode::WorkflowNotFound,
                fmt::format(
                    "There is no retention rule and no workflow \\"{}\\".", one_line(options.workflow)
                )
            );
        }
    }
'''))
import shutil
for f in ('command_result','command_stats','command_doctor','command_dev','command_init'):
    shutil.copy(f'/tmp/cli/{f}.cpp',R+f+'.cpp')
ed('command_init.cpp',('#include "core/model/document.h"','#include "core/model/editor_graph.h"'))
ed('progress_display.h',(''' private:
    std::string text_of(const ProgressLine& line) const;
''','''    std::string text_of(const ProgressLine& line) const;

 private:
'''))
shutil.copy('/tmp/cli/overview_commands.h',R+'overview_commands.h')
ed('app.h',('#include "cli/commands.h"\n','#include "cli/commands.h"\n#include "cli/overview_commands.h"\n'))
for f in ('command_result','command_stats','command_doctor','command_dev','command_init'):
    ed(f+'.cpp',('#include "cli/commands.h"\n','#include "cli/overview_commands.h"\n'))
ed('app.h',('    void add_completion();\n','    void add_completion();\n    void add_dev();\n    void add_init();\n'),('    void add_transfer();\n','    void add_transfer();\n    void add_result();\n    void add_rerun();\n'),
('    void add_workers();\n','    void add_workers();\n    void add_overview();\n'),('    WaitOptions wait_;\n','    WaitOptions wait_;\n    ResultOptions result_;\n    RerunOptions rerun_;\n    TopOptions top_;\n    DevOptions dev_;\n    InitOptions init_;\n'))
ed('app.cpp',('    add_complete();\n','    add_result();\n    add_rerun();\n    add_overview();\n    add_dev();\n    add_init();\n    add_complete();\n'),
('    const std::string meant = closest(word, command_names(app_));\n    std::string hint','    const std::string synonym = verb_for(word);\n    const std::string meant = synonym.empty() ? closest(word, command_names(app_)) : synonym;\n    std::string hint'),
('/// One of `choices`, spelt exactly so.','''/// The command for a word that other tools use.
std::string verb_for(std::string_view word) {
    static const std::map<std::string_view, std::string_view> kVerbs{
        {"approve", "decide INSTANCE confirm"},
        {"check", "validate"},
        {"delete", "purge"},
        {"describe", "show"},
        {"draw", "diagram"},
        {"events", "history"},
        {"get", "show"},
        {"inspect", "show"},
        {"kill", "abort"},
        {"lint", "validate"},
        {"log", "history"},
        {"logs", "history -f"},
        {"ls", "list"},
        {"new", "init"},
        {"ps", "list"},
        {"reject", "decide INSTANCE reject"},
        {"remove", "purge"},
        {"reset", "requeue"},
        {"restart", "rerun"},
        {"retry", "requeue"},
        {"rm", "purge"},
        {"rollback", "cancel"},
        {"send", "signal"},
        {"status", "show"},
        {"stop", "cancel"},
        {"tail", "history -f"},
        {"undo", "cancel"},
        {"unpause", "resume"},
        {"watch", "show -f"},
    };
    const auto found = kVerbs.find(word);
    return found == kVerbs.end() ? std::string() : std::string(found->second);
}

/// One of `choices`, spelt exactly so.'''))
ed('app_instances.cpp',('void CommandLine::add_transfer() {','''void CommandLine::add_result() {
    CLI::App* result =
        add_command("result", "Print the output of an instance", [this](Session& s) {
            return print_result(s, result_);
        });
    result->group("Look");
    add_instance(result, result_.instance);
    add_output(result, {"json", "jsonl", "yaml"});
}

void CommandLine::add_rerun() {
    CLI::App* rerun =
        add_command("rerun", "Start the same once more, as a new instance", [this](Session& s) {
            return rerun_instance(s, rerun_);
        });
    rerun->group("Run");
    add_instance(rerun, rerun_.instance);
    rerun->add_option("-i,--input", rerun_.input, "Another input: JSON, @FILE or - for stdin")
        ->type_name("JSON");
    rerun->add_option("--key", rerun_.key, "A key for the new instance")->type_name("KEY");
    rerun->add_option("--version", rerun_.version, "Which version (default: the newest)")
        ->check(within(1, DefinitionLimits::kVersionMax))
        ->type_name("N");
    rerun->add_option("--by", rerun_.by, "Who starts it (default: $USER)")->type_name("NAME");
    CLI::Option* wait =
        rerun->add_flag("--wait", rerun_.waits, "Wait for its end, as `ebb wait` does");
    add_duration(rerun, "--timeout", rerun_.timeout, "Of --wait: give up after this time");
    rerun->get_option("--timeout")->needs(wait);
}

void CommandLine::add_transfer() {'''))
ed('app_queues.cpp',('void CommandLine::add_queue() {','''void CommandLine::add_overview() {
    CLI::App* stats =
        add_command("stats", "Count instances, workers and tasks", print_stats);
    stats->group("Look");
    add_output(stats, {"json", "jsonl", "yaml"});

    CLI::App* top = add_command("top", "Watch what is live", [this](Session& s) {
        return show_top(s, top_);
    });
    top->group("Look");
    add_duration(
        top,
        "--every",
        top_.every,
        "How often to look (2s)",
        {.least = std::chrono::milliseconds(100), .most = std::chrono::hours(1)}
    );
    top->add_flag("--once", top_.is_once, "Look only once");

    CLI::App* doctor = add_command(
        "doctor", "Find what is wrong with a deployment", examine_deployment
    );
    doctor->group("Other");
    add_output(doctor, {"json", "jsonl", "yaml"});
}

void CommandLine::add_queue() {'''))
ed('app_workflows.cpp',('/// What the completion scripts ask for.','''void CommandLine::add_dev() {
    CLI::App* dev =
        add_command("dev", "Run workflows while you edit their files", [this](Session& s) {
            return develop(s, dev_);
        });
    dev->group("Run");
    dev->add_option("FILE", dev_.files, "Workflows: YAML or JSON; several")->required();
    dev->add_option("-i,--input", dev_.input, "Start an instance with it after each change")
        ->type_name("JSON");
    add_threads(dev, dev_.threads);
}

void CommandLine::add_init() {
    CLI::App* init = add_command("init", "Make the first files of a project", [this](Session& s) {
        return make_project(s, init_);
    });
    init->group("Other");
    init->add_option("FOLDER", init_.folder, "Where to (default: here)");
    init->add_option("--name", init_.name, "The workflow's name (default: the folder's)")
        ->type_name("NAME");
    init->add_flag("--yaml", init_.is_yaml, "A workflow in YAML instead of a C++ project");
}

/// What the completion scripts ask for.'''))
# yaml by the existing writer
ed('session.cpp',('#include "cli/yaml_text.h"\n',''),('#include "store/store.h"\n','#include "store/store.h"\n#include "yaml/yaml_writer.h"\n'),
('void Session::print_json(const','''namespace {

/// A map as a document; of a list each element.
std::string yaml_text(const nlohmann::ordered_json& json) {
    const auto replace = nlohmann::ordered_json::error_handler_t::replace;
    if (json.is_object()) return yaml::write_yaml(json);
    if (!json.is_array() || json.empty()) return json.dump(-1, ' ', false, replace) + "\\n";
    std::string text;
    for (const auto& each : json) {
        text += (text.empty() ? "" : "---\\n") + yaml_text(each);
    }
    return text;
}

}  // namespace

void Session::print_json(const'''))
os.remove(R+'yaml_text.cpp'); os.remove(R+'yaml_text.h')
T=W+'tests/unit/cli/'
t=open(T+'text_test.cpp').read()
a=t.index('TEST(CliText, yaml_says'); b=t.index('TEST(CliText, reads_times')
t=t[:a]+t[b:]; t=t.replace('#include "cli/yaml_text.h"\n','')
open(T+'text_test.cpp','w').write(t)
# error texts: the code in front
ed('report.cpp',('''        "{} {} {}\\n",
        style.paint(Style::Color::Red, "ebb:"),
        complaint.message,
        style.dim(fmt::format("({})", complaint.code))
''','''        "{} {} {}\\n",
        style.paint(Style::Color::Red, "ebb:"),
        style.paint(Style::Color::Red, fmt::format("{}:", complaint.code)),
        complaint.message
'''))
