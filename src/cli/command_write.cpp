// `ebb write`: attributes of an instance with rules.

#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <ebb/error.h>

#include "cli/commands.h"
#include "cli/instance_ref.h"
#include "cli/outline_text.h"
#include "cli/payload_argument.h"
#include "core/rules/values.h"
#include "support/json.h"
#include "view/instance_json.h"

namespace ebb::cli {

namespace {

[[noreturn]] void throw_bad(const std::string& what) {
    throw Error(ErrorCode::InvalidArgument, what);
}

bool is_written_as_text(AttributeType type) {
    return type != AttributeType::Boolean && type != AttributeType::Integer &&
           type != AttributeType::Double && type != AttributeType::Document;
}

/// By its name, or else by an earlier one.
const Attribute* find_attribute(const Rules& rules, const std::string& name) {
    const std::vector<Attribute>& all = rules.attributes;
    auto found = std::find_if(all.begin(), all.end(), [&](const Attribute& each) {
        return each.name == name;
    });
    if (found == all.end()) {
        found = std::find_if(all.begin(), all.end(), [&](const Attribute& each) {
            return std::find(each.renamed_from.begin(), each.renamed_from.end(), name) !=
                   each.renamed_from.end();
        });
    }
    return found == all.end() ? nullptr : &*found;
}

/// `NAME=VALUE` by the attribute's type, or `NAME:=JSON`. Throws Error with InvalidArgument.
void add_assignment(Json& values, const Rules& rules, const std::string& text) {
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0) {
        throw_bad(fmt::format(
            "\"{}\" is not an attribute with its value: write NAME=VALUE, or NAME:=JSON.",
            clean_text(text, 60)
        ));
    }
    const bool is_json = text[equals - 1] == ':';
    const std::string name = text.substr(0, equals - (is_json ? 1 : 0));
    const std::string value = text.substr(equals + 1);
    if (values.contains(name)) {
        throw_bad(fmt::format("The attribute \"{}\" has two values.", clean_text(name, 60)));
    }
    const Attribute* attribute = find_attribute(rules, name);
    // The kernel says which attributes there are.
    const bool is_text = !is_json && (attribute == nullptr || is_written_as_text(attribute->type));
    if (is_text) {
        values[name] = value;
        return;
    }
    Json parsed = Json::parse(value, nullptr, false);
    const bool takes_json =
        is_json || (attribute != nullptr && attribute->type == AttributeType::Document);
    if (parsed.is_discarded() && takes_json) {
        throw_bad(fmt::format(
            "The attribute \"{}\"{} needs a JSON value, and {} is not one. Write a text in quotes: "
            "{}{}'\"abc\"'.",
            name,
            attribute == nullptr ? std::string() : fmt::format(" ({})", to_string(attribute->type)),
            value.empty() ? "an empty text" : clean_text(value, 60),
            name,
            is_json ? ":=" : "="
        ));
    }
    // The kernel says what a value of the attribute's type looks like.
    values[name] = parsed.is_discarded() ? Json(value) : std::move(parsed);
}

}  // namespace

int write_attributes(Session& session, const WriteCommandOptions& options) {
    Json values = Json::object();
    if (!options.values.empty()) {
        values = Json::parse(read_payload(options.values, "--values", session.streams()));
        if (!values.is_object()) throw_bad("--values must be a JSON object of attributes.");
    }
    Client& engine = session.connect("write");
    const InstanceId id = resolve_instance(engine, options.instance);
    if (const auto summary = engine.find(id)) {
        const auto definition = engine.definition(summary->workflow, summary->version);
        const Rules none;
        const Rules& rules = definition->rules ? *definition->rules : none;
        for (const std::string& text : options.assignments) add_assignment(values, rules, text);
    }
    if (values.empty()) throw_bad("Say what to write: NAME=VALUE, or --values JSON.");
    const bool has_changed = engine.write(
        id,
        Payload(values),
        {.is_repair = options.is_repair,
         .by = session.by(options.by),
         .request_id = options.request_id,
         .expected_revision = options.if_revision}
    );
    const auto summary = engine.find(id);
    if (!summary) return kOk;
    if (session.options().is_json) {
        session.print_json(view::summary_json(*summary));
        return kOk;
    }
    // As `ebb show` calls it.
    const bool waits = summary->status == InstanceStatus::Running && is_waiting(engine.show(id));
    session.note(fmt::format(
        "{} {}; its status is now {}.\n",
        has_changed ? "Wrote to" : "Nothing to write: the attributes already have these values in",
        id.to_string(),
        session.err().status(waits ? "waiting" : to_string(summary->status))
    ));
    return kOk;
}

}  // namespace ebb::cli
