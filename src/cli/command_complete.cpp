// `ebb __complete`: what the completion scripts offer. A shell wants candidates or nothing, so
// nothing is an error here.

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "cli/commands.h"
#include "cli/definition_names.h"
#include "cli/instance_ref.h"
#include "cli/outline_text.h"
#include "cli/text.h"

namespace ebb::cli {

namespace {

constexpr int kCandidatesMax = 50;

/// The instances to which a verb can do something.
std::vector<InstanceStatus> statuses_for(std::string_view verb) {
    using enum InstanceStatus;
    if (verb == "requeue") return {DeadLetter};
    if (verb == "resume") return {Paused};
    if (verb == "decide" || verb == "signal") return {Running};
    if (verb == "pause") return {Running, Compensating};
    if (verb == "rerun") return {Completed, Failed, Cancelled, Aborted};
    if (verb == "result") return {Completed};
    if (verb == "cancel" || verb == "abort" || verb == "export" || verb == "wait") {
        return {Running, Paused, Compensating, DeadLetter};
    }
    return {};
}

bool is_useful(const view::Outline& outline, std::string_view verb) {
    if (verb != "decide" && verb != "signal") return true;
    const std::string_view kind = verb == "decide" ? "decision" : "signal";
    const auto& waits = outline.waiting_for;
    return std::any_of(waits.begin(), waits.end(), [&](const WaitingFor& wait) {
        return wait.kind == kind;
    });
}

void print_instances(Session& session, std::string_view verb) {
    Client& engine = session.connect("list");
    ListOptions query{.statuses = statuses_for(verb), .workflow = {}, .key = {}};
    std::string text;
    int count = 0;
    for (const view::Outline& outline : engine.outlines(query)) {
        const InstanceSummary& summary = outline.summary;
        if (!is_useful(outline, verb) || ++count > kCandidatesMax) continue;
        text += fmt::format(
            "{}\t{} v{} {}\n",
            short_id(summary.id),
            one_line(summary.workflow),
            summary.version,
            shown_status(outline)
        );
    }
    session.print(text);
}

void print_signals(Session& session, const std::string& instance) {
    Client& engine = session.connect("signal");
    const auto summary = engine.find(resolve_instance(engine, instance));
    if (!summary) return;
    std::set<std::string> names;
    const auto definition = engine.definition(summary->workflow, summary->version);
    for (const auto& [name, facts] : index_nodes(*definition)) {
        if (!facts.signal.empty()) names.insert(facts.signal);
    }
    for (const std::string& name : names) session.print(fmt::format("{}\tsignal\n", name));
}

void print_queues(Session& session) {
    for (const QueueView& queue : session.connect("queue").queues()) {
        session.print(fmt::format("{}\tqueue\n", queue.name));
    }
}

}  // namespace

int complete_word(Session& session, const CompleteOptions& options) {
    const std::string word = options.words.empty() ? std::string() : options.words.front();
    try {
        if (options.what == "instances") print_instances(session, word);
        if (options.what == "signals") print_signals(session, word);
        if (options.what == "queues") print_queues(session);
    } catch (const Error&) {
        // No database, or one of another version: there is nothing to offer.
    }
    return kOk;
}

}  // namespace ebb::cli
