#include "source/cpp_calls.h"

#include <algorithm>
#include <utility>

namespace ebb::source {

namespace {

using Kind = CppValue::Kind;
using enum CppBuilder::Kind;

/// Holds what a builder's function returns: builders can be neither copied nor moved.
template <typename Builder>
struct Held {
    template <typename Make>
    explicit Held(const Make& make) : builder(make()) {}

    Builder builder;
};

std::string placeholder(const std::string& text) {
    return "‹" + text + "›";
}

}  // namespace

CppCalls::CppCalls(
    const CppCode& code, CppWorkflow& found, CppBindings bindings, BlockReader reader
)
    : code_(code), found_(found), bindings_(std::move(bindings)), reader_(std::move(reader)) {}

const std::vector<std::pair<std::string_view, CppCalls::Function>>& CppCalls::functions() {
    static const std::vector<std::pair<std::string_view, Function>> kFunctions{
        {"step", &CppCalls::add_step},
        {"condition", &CppCalls::add_condition},
        {"switch_on", &CppCalls::add_switch},
        {"parallel", &CppCalls::add_parallel},
        {"loop_while", &CppCalls::add_loop},
        {"loop_until", &CppCalls::add_loop},
        {"delay", &CppCalls::add_delay},
        {"delay_until", &CppCalls::add_delay},
        {"decision", &CppCalls::add_decision},
        {"signal", &CppCalls::add_signal},
        {"savepoint", &CppCalls::add_savepoint},
        {"fail", &CppCalls::add_fail},
        {"graph", &CppCalls::add_graph},
        {"add", &CppCalls::add_any},
        {"description", &CppCalls::set_about},
        {"metadata", &CppCalls::set_about},
        {"handler", &CppCalls::set_step_text},
        {"input", &CppCalls::set_step_text},
        {"queue", &CppCalls::set_step_text},
        {"concurrency_key", &CppCalls::set_step_text},
        {"next", &CppCalls::set_step_text},
        {"compensate", &CppCalls::set_compensate},
        {"max_attempts", &CppCalls::set_attempts},
        {"backoff", &CppCalls::set_attempts},
        {"timeout", &CppCalls::set_attempts},
        {"step_timeout", &CppCalls::set_attempts},
        {"attempts", &CppCalls::set_attempts},
        {"non_idempotent", &CppCalls::set_attempts},
        {"join_any", &CppCalls::set_join},
        {"join", &CppCalls::set_join},
        {"keep_losers", &CppCalls::set_join},
        {"max_iterations", &CppCalls::set_max_iterations},
        {"quorum", &CppCalls::set_decision},
        {"roles", &CppCalls::set_decision},
        {"on_reject", &CppCalls::set_decision},
        {"deadline", &CppCalls::set_deadline},
        {"signal_name", &CppCalls::set_signal},
        {"schema", &CppCalls::set_signal},
        {"resume", &CppCalls::set_resume},
        {"entry", &CppCalls::set_graph},
        {"edge", &CppCalls::set_graph},
        {"complete_unmatched", &CppCalls::set_graph},
        {"on_error", &CppCalls::set_workflow},
        {"priority", &CppCalls::set_workflow},
        {"defaults", &CppCalls::set_workflow},
        {"step_budget", &CppCalls::set_workflow},
        {"sensitive", &CppCalls::set_workflow},
        {"label", &CppCalls::set_label},
        {"input_schema", &CppCalls::set_workflow_payload},
        {"output", &CppCalls::set_workflow_payload},
        {"handler_spec", &CppCalls::set_workflow_payload},
    };
    return kFunctions;
}

bool CppCalls::knows(std::string_view name) {
    return name == "build" ||
           std::any_of(functions().begin(), functions().end(), [&](const auto& function) {
               return function.first == name;
           });
}

void CppCalls::call(CppCall& call) {
    const auto found =
        std::find_if(functions().begin(), functions().end(), [&](const auto& function) {
            return function.first == call.name;
        });
    if (found == functions().end()) return refuse(call);
    (this->*found->second)(call);
}

void CppCalls::refuse(const CppCall& call) {
    note_unknown(call.builder.node, call.range);
}

void CppCalls::note_unknown(const std::string& path, TokenRange range) {
    found_.unknown.push_back(
        {path, code_.text_of(range), {code_.offset_of(range.begin), code_.end_of(range)}}
    );
}

void CppCalls::place(const std::string& path, TokenRange range) {
    found_.places[path] = {code_.offset_of(range.begin), code_.end_of(range)};
}

std::string CppCalls::text(TokenRange range, const std::string& path) {
    place(path, range);
    CppValue known = value(range);
    if (known.is(Kind::Text)) return std::move(known.text);
    note_unknown(path, range);
    return placeholder(code_.text_of(range));
}

/// JSON text; empty if it is not known, since a placeholder is not JSON.
Payload CppCalls::json(TokenRange range, const std::string& path) {
    place(path, range);
    CppValue known = value(range);
    if (known.is(Kind::Text)) return Payload(std::move(known.text));
    note_unknown(path, range);
    return {};
}

std::string CppCalls::argument(const CppCall& call, std::size_t index, const std::string& key) {
    if (index >= call.arguments.size()) return {};
    return text(call.arguments[index], call.builder.node + key);
}

std::optional<std::int64_t> CppCalls::integer(TokenRange range, const std::string& path) {
    place(path, range);
    const CppValue known = value(range);
    if (known.is(Kind::Integer)) return known.integer;
    note_unknown(path, range);
    return std::nullopt;
}

std::optional<double> CppCalls::real(TokenRange range, const std::string& path) {
    place(path, range);
    const CppValue known = value(range);
    if (known.is_number()) return known.number();
    note_unknown(path, range);
    return std::nullopt;
}

std::optional<bool> CppCalls::truth(TokenRange range, const std::string& path) {
    place(path, range);
    const CppValue known = value(range);
    if (known.is(Kind::Bool)) return known.integer != 0;
    note_unknown(path, range);
    return std::nullopt;
}

std::optional<Duration> CppCalls::time(TokenRange range, const std::string& path) {
    place(path, range);
    const CppValue known = value(range);
    if (known.is(Kind::Time)) return known.time;
    note_unknown(path, range);
    return std::nullopt;
}

std::vector<std::string> CppCalls::texts(TokenRange range, const std::string& path) {
    place(path, range);
    const CppValue known = value(range);
    std::vector<std::string> all;
    if (!known.is(Kind::Braces)) {
        note_unknown(path, range);
        return all;
    }
    for (const TokenRange& part : code_.split(known.range)) {
        all.push_back(text(part, path + "/" + std::to_string(all.size())));
    }
    return all;
}

/// `{.name = value, .other{value}}`
void CppCalls::fields(TokenRange range, const std::string& path, const FieldReader& read) {
    const CppValue known = value(range);
    if (!known.is(Kind::Braces)) return note_unknown(path, range);
    for (const TokenRange& part : code_.split(known.range)) {
        const bool is_named =
            code_.at(part.begin).is(".") && code_.at(part.begin + 1).is_identifier();
        const TokenIndex behind = part.begin + 2;
        const bool has_value = behind < part.end;
        const TokenIndex first = has_value && code_.at(behind).is("=") ? behind + 1 : behind;
        const bool is_read = is_named && has_value && first < part.end &&
                             read(code_.at(part.begin + 1).text, {first, part.end});
        if (!is_read) note_unknown(path, part);
    }
}

AttemptOptions::BackoffOptions CppCalls::backoff_options(
    TokenRange range, const std::string& path
) {
    AttemptOptions::BackoffOptions options;
    fields(range, path, [&](std::string_view name, TokenRange field) {
        const std::string key = path + "/" + std::string(name);
        if (name == "strategy") {
            options.strategy = word<Backoff::Strategy>(
                field,
                key,
                {{"Fixed", Backoff::Strategy::Fixed},
                 {"Linear", Backoff::Strategy::Linear},
                 {"Exponential", Backoff::Strategy::Exponential}}
            );
        } else if (name == "initial") {
            options.initial = time(field, key);
        } else if (name == "max") {
            options.max = time(field, key);
        } else if (name == "factor") {
            options.factor = real(field, key);
        } else if (name == "jitter") {
            options.jitter = real(field, key);
        } else {
            return false;
        }
        return true;
    });
    return options;
}

AttemptOptions CppCalls::attempt_options(TokenRange range, const std::string& path) {
    AttemptOptions options;
    fields(range, path, [&](std::string_view name, TokenRange field) {
        const std::string key = path + "/" + std::string(name);
        if (name == "max_attempts") {
            if (const auto count = integer(field, key)) {
                options.max_attempts = static_cast<int>(*count);
            }
        } else if (name == "backoff") {
            options.backoff = backoff_options(field, key);
        } else if (name == "timeout") {
            options.timeout = time(field, key);
        } else if (name == "step_timeout") {
            options.step_timeout = time(field, key);
        } else {
            return false;
        }
        return true;
    });
    return options;
}

AttemptPolicy CppCalls::attempt_policy(TokenRange range, const std::string& path) {
    const AttemptOptions options = attempt_options(range, path);
    AttemptPolicy policy;
    policy.max_attempts = options.max_attempts.value_or(policy.max_attempts);
    policy.timeout = options.timeout.value_or(policy.timeout);
    policy.step_timeout = options.step_timeout.value_or(policy.step_timeout);
    const AttemptOptions::BackoffOptions& backoff = options.backoff;
    policy.backoff.strategy = backoff.strategy.value_or(policy.backoff.strategy);
    policy.backoff.initial = backoff.initial.value_or(policy.backoff.initial);
    policy.backoff.factor = backoff.factor.value_or(policy.backoff.factor);
    policy.backoff.max = backoff.max.value_or(policy.backoff.max);
    policy.backoff.jitter = backoff.jitter.value_or(policy.backoff.jitter);
    return policy;
}

StepOptions CppCalls::step_options(TokenRange range, const std::string& path) {
    StepOptions options;
    fields(range, path, [&](std::string_view name, TokenRange field) {
        const std::string key = path + "/" + std::string(name);
        if (name == "handler") {
            options.handler = text(field, key);
        } else if (name == "compensate") {
            options.compensate = text(field, key);
        } else if (name == "input") {
            options.input = json(field, key);
        } else if (name == "attempts") {
            options.attempts = attempt_options(field, path);
        } else if (name == "non_idempotent") {
            options.non_idempotent = truth(field, key).value_or(false);
        } else if (name == "queue") {
            options.queue = text(field, key);
        } else if (name == "concurrency_key") {
            options.concurrency_key = text(field, key);
        } else if (name == "description") {
            options.description = text(field, key);
        } else if (name == "metadata") {
            options.metadata = json(field, key);
        } else {
            return false;
        }
        return true;
    });
    return options;
}

BlockFunction CppCalls::block_function(TokenRange range, const std::string& path) {
    place(path, range);
    const CppValue known = value(range);
    // `{}` and `nullptr` stand for no function.
    if (known.is(Kind::Braces) && known.range.is_empty()) return {};
    auto block = std::make_shared<CppBlock>(CppBlock{.path = path});
    return [this, known, block, range](BlockBuilder& builder) {
        CppBuilder inner{.owner = nullptr, .builder = &builder, .kind = Block, .block = block};
        // A loop around the block is said of the block's node, not of all that is in it.
        std::string outer = std::exchange(frame, {});
        if (known.is(Kind::Function)) {
            reader_(known, std::move(inner));
        } else {
            add_unknown(inner, range);
        }
        frame = std::move(outer);
    };
}

/// The branches or cases of a node: `{{"name", function}, ...}`.
template <typename Lane>
std::vector<Lane> CppCalls::lanes(
    TokenRange range, const std::string& path, const std::string& key
) {
    std::vector<Lane> all;
    place(path, range);
    const CppValue known = value(range);
    if (!known.is(Kind::Braces)) {
        note_unknown(path, range);
        return all;
    }
    for (const TokenRange& part : code_.split(known.range)) {
        const std::string lane = path + "/" + std::to_string(all.size());
        const CppValue entry = value(part);
        std::vector<TokenRange> parts;
        if (entry.is(Kind::Braces)) parts = code_.split(entry.range);
        for (TokenRange& one : parts) {
            // `{.name = "a", .steps = function}`
            if (code_.at(one.begin).is(".") && code_.at(one.begin + 2).is("=")) one.begin += 3;
        }
        if (parts.size() != 2) {
            note_unknown(lane, part);
            continue;
        }
        all.push_back({text(parts[0], lane + key), block_function(parts[1], lane + "/do")});
    }
    return all;
}

/// The path of a node that is about to be added.
std::string CppCalls::begin_node(const CppCall& call, std::string_view kind) {
    CppBlock& block = *call.builder.block;
    const std::string path = block.path + "/" + std::to_string(block.count++);
    place(path, call.range);
    if (!frame.empty()) found_.frames[path] = frame;
    call.builder.node = path;
    if (call.arguments.empty()) note_unknown(path, call.range);
    if (!call.arguments.empty()) place(path + "/" + std::string(kind), call.arguments.front());
    return path;
}

template <typename Make>
void CppCalls::become(
    CppCall& call, CppBuilder::Kind kind, const std::string& path, const Make& make
) {
    using Builder = decltype(make());
    auto held = std::make_shared<Held<Builder>>(make);
    call.builder.builder = &held->builder;
    call.builder.owner = std::move(held);
    call.builder.kind = kind;
    call.builder.node = path;
}

void CppCalls::add_unknown(const CppBuilder& builder, TokenRange range) {
    CppBuilder copy = builder;
    CppBlock& block = *copy.block;
    const std::string path = block.path + "/" + std::to_string(block.count++);
    place(path, range);
    note_unknown(path, range);
    copy.builder->step(placeholder(code_.text_of(range)));
}

void CppCalls::add_step(CppCall& call) {
    const std::string path = begin_node(call, "step");
    std::string name = argument(call, 0, "/step");
    StepOptions options;
    if (call.arguments.size() > 1) options = step_options(call.arguments[1], path);
    become(call, Step, path, [&] {
        return call.builder.builder->step(std::move(name), std::move(options));
    });
}

void CppCalls::add_condition(CppCall& call) {
    const std::string path = begin_node(call, "condition");
    std::string name = argument(call, 0, "/condition");
    std::string when = argument(call, 1, "/when");
    BlockFunction then;
    BlockFunction otherwise;
    if (call.arguments.size() > 2) then = block_function(call.arguments[2], path + "/then");
    if (call.arguments.size() > 3) otherwise = block_function(call.arguments[3], path + "/else");
    become(call, Node, path, [&] {
        return call.builder.builder->condition(std::move(name), std::move(when), then, otherwise);
    });
}

void CppCalls::add_switch(CppCall& call) {
    const std::string path = begin_node(call, "switch");
    std::string name = argument(call, 0, "/switch");
    std::vector<CaseOptions> cases;
    BlockFunction otherwise;
    if (call.arguments.size() > 1) {
        cases = lanes<CaseOptions>(call.arguments[1], path + "/cases", "/when");
    }
    if (call.arguments.size() > 2) otherwise = block_function(call.arguments[2], path + "/default");
    become(call, Node, path, [&] {
        return call.builder.builder->switch_on(std::move(name), cases, otherwise);
    });
}

void CppCalls::add_parallel(CppCall& call) {
    const std::string path = begin_node(call, "parallel");
    std::string name = argument(call, 0, "/parallel");
    std::vector<BranchOptions> branches;
    if (call.arguments.size() > 1) {
        branches = lanes<BranchOptions>(call.arguments[1], path + "/branches", "/branch");
    }
    become(call, Parallel, path, [&] {
        return call.builder.builder->parallel(std::move(name), branches);
    });
}

void CppCalls::add_loop(CppCall& call) {
    const std::string path = begin_node(call, "loop");
    const bool is_while = call.name == "loop_while";
    std::string name = argument(call, 0, "/loop");
    std::string expression = argument(call, 1, is_while ? "/while" : "/until");
    BlockFunction body;
    if (call.arguments.size() > 2) body = block_function(call.arguments[2], path + "/do");
    BlockBuilder& block = *call.builder.builder;
    become(call, Loop, path, [&] {
        return is_while ? block.loop_while(std::move(name), std::move(expression), body)
                        : block.loop_until(std::move(name), std::move(expression), body);
    });
}

void CppCalls::add_delay(CppCall& call) {
    const std::string path = begin_node(call, "delay");
    const bool is_until = call.name == "delay_until";
    std::string name = argument(call, 0, "/delay");
    BlockBuilder& block = *call.builder.builder;
    if (!is_until && call.arguments.size() > 1) {
        const CppValue known = value(call.arguments[1]);
        if (known.is(Kind::Time)) {
            place(path + "/for", call.arguments[1]);
            return become(call, Node, path, [&] {
                return block.delay(std::move(name), known.time);
            });
        }
    }
    std::string until = argument(call, 1, is_until ? "/until" : "/for");
    become(call, Node, path, [&] {
        return is_until ? block.delay_until(std::move(name), std::move(until))
                        : block.delay(std::move(name), std::move(until));
    });
}

void CppCalls::add_decision(CppCall& call) {
    const std::string path = begin_node(call, "decision");
    std::string name = argument(call, 0, "/decision");
    become(call, Decision, path, [&] { return call.builder.builder->decision(std::move(name)); });
}

void CppCalls::add_signal(CppCall& call) {
    const std::string path = begin_node(call, "signal");
    std::string name = argument(call, 0, "/signal");
    become(call, Signal, path, [&] { return call.builder.builder->signal(std::move(name)); });
}

void CppCalls::add_savepoint(CppCall& call) {
    const std::string path = begin_node(call, "savepoint");
    std::string name = argument(call, 0, "/savepoint");
    become(call, Savepoint, path, [&] { return call.builder.builder->savepoint(std::move(name)); });
}

void CppCalls::add_fail(CppCall& call) {
    const std::string path = begin_node(call, "fail");
    std::string name = argument(call, 0, "/fail");
    std::string message = argument(call, 1, "/message");
    become(call, Node, path, [&] {
        return call.builder.builder->fail(std::move(name), std::move(message));
    });
}

void CppCalls::add_graph(CppCall& call) {
    const std::string path = begin_node(call, "graph");
    std::string name = argument(call, 0, "/graph");
    BlockFunction nodes;
    if (call.arguments.size() > 1) nodes = block_function(call.arguments[1], path + "/nodes");
    become(call, Graph, path, [&] { return call.builder.builder->graph(std::move(name), nodes); });
}

/// A Node of the program's own making.
void CppCalls::add_any(CppCall& call) {
    const std::string path = begin_node(call, "step");
    note_unknown(path, call.range);
    std::string name = placeholder(code_.text_of(call.range));
    become(call, Node, path, [&] { return call.builder.builder->step(std::move(name)); });
}

}  // namespace ebb::source
