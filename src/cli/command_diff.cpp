#include <algorithm>
#include <charconv>
#include <map>
#include <memory>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/client.h"
#include "cli/compare_commands.h"
#include "cli/cpp_file.h"
#include "cli/definition_file.h"
#include "cli/exit_code.h"
#include "cli/fill.h"
#include "cli/output_file.h"
#include "cli/picture.h"
#include "cli/text.h"
#include "core/model/difference.h"
#include "view/difference_json.h"

namespace ebb::cli {

namespace {

using model::Difference;
using model::FieldChange;
using model::NodeChange;
using Ordered = nlohmann::ordered_json;

/// As `diff`: another exit code than that of an error.
constexpr int kDiffers = 1;
constexpr std::size_t kValueBytesShown = 200;

struct Subject {
    std::string name;  ///< as the user named it
    Definition definition;
};

Subject read_subject(Session& session, const std::string& word) {
    if (names_cpp_file(word)) {
        CppDefinition found = read_cpp_workflow(word);
        if (!found.file.problems.empty()) throw InvalidDefinitionFile{std::move(found.file)};
        if (found.workflow.is_exact()) return {word, std::move(found.file.definition)};
        throw Error(
            ErrorCode::InvalidArgument,
            fmt::format(
                "{} cannot be compared: {}. Compare the registered versions, such as {}@{}.",
                one_line(word),
                exactness(found.workflow),
                one_line(found.file.definition.name),
                found.file.definition.version
            )
        );
    }
    if (names_file(word)) return {word, load_definition_file(word, session).definition};
    return {word, read_registered(session, "diff", word)};
}

/// How values are printed: whole if the output is not a terminal.
struct ValueStyle {
    const Style& style;
    bool is_whole = false;
};

std::string short_value(const std::optional<std::string>& value, const ValueStyle& look) {
    const Style& style = look.style;
    if (!value) return std::string(style.glyphs().dash);
    if (look.is_whole || value->size() <= kValueBytesShown) return one_line(*value);
    return one_line(value->substr(0, kValueBytesShown)) + std::string(style.glyphs().ellipsis);
}

std::string field_line(const FieldChange& field, const ValueStyle& look) {
    const Style& style = look.style;
    return fmt::format(
        "{}: {} {} {}\n",
        one_line(field.pointer),
        style.paint(Style::Color::Red, short_value(field.before, look)),
        style.has_unicode() ? "→" : "->",
        style.paint(Style::Color::Green, short_value(field.after, look))
    );
}

Style::Color color_of(NodeChange::Kind kind) {
    switch (kind) {
        case NodeChange::Kind::Added:
            return Style::Color::Green;
        case NodeChange::Kind::Removed:
            return Style::Color::Red;
        case NodeChange::Kind::Changed:
            return Style::Color::Yellow;
        case NodeChange::Kind::Moved:
            break;
    }
    return Style::Color::Blue;
}

diagram::Note::Kind note_kind(NodeChange::Kind kind) {
    switch (kind) {
        case NodeChange::Kind::Added:
            return diagram::Note::Kind::Added;
        case NodeChange::Kind::Removed:
            return diagram::Note::Kind::Removed;
        case NodeChange::Kind::Changed:
            return diagram::Note::Kind::Changed;
        case NodeChange::Kind::Moved:
            break;
    }
    return diagram::Note::Kind::Moved;
}

std::string node_text(const NodeChange& change, const ValueStyle& value_style) {
    const Style& style = value_style.style;
    const diagram::NoteStyle& look = diagram::style_of(note_kind(change.kind));
    const std::string_view sign = style.has_unicode() ? look.sign : look.ascii_sign;
    const std::string& pointer =
        change.pointer_after.empty() ? change.pointer_before : change.pointer_after;
    std::string text = fmt::format(
        "{} {}  {}\n",
        style.paint(color_of(change.kind), sign),
        style.bold(one_line(change.name)),
        style.dim(fmt::format(
            "{} {}{}{}",
            change.node_kind,
            to_string(change.kind),
            change.is_moved && change.kind == NodeChange::Kind::Changed ? " and moved" : "",
            " at " + pointer
        ))
    );
    if (change.is_moved) {
        text += fmt::format("    it was at {}\n", one_line(change.pointer_before));
    }
    for (const FieldChange& field : change.fields) text += "    " + field_line(field, value_style);
    return text;
}

std::string counts_of(const Difference& difference) {
    std::map<NodeChange::Kind, std::size_t> counts;
    for (const NodeChange& change : difference.nodes) ++counts[change.kind];
    std::string text;
    for (const auto& [kind, count] : counts) {
        text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, to_string(kind));
    }
    return text.empty() ? "no node changed" : text;
}

std::string title_of(const Subject& subject) {
    return fmt::format("{} v{}", subject.definition.name, subject.definition.version);
}

/// Each line in as many as it needs.
std::string folded(std::string_view text, int columns) {
    std::string all;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        const std::size_t margin = std::min(text.find_first_not_of(' '), end);
        all += fold(text.substr(0, end), columns, static_cast<int>(margin) + 2) + "\n";
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return all;
}

std::string text_of(
    const Subject& before,
    const Subject& after,
    const Difference& difference,
    const ValueStyle& value_style
) {
    const Style& style = value_style.style;
    if (difference.is_empty()) {
        return fmt::format("{} {}: no difference\n", title_of(before), title_of(after));
    }
    std::string text = fmt::format(
        "{} {} {}: {}\n",
        style.bold(title_of(before)),
        style.has_unicode() ? "→" : "->",
        style.bold(title_of(after)),
        counts_of(difference)
    );
    for (const FieldChange& field : difference.workflow) {
        text += style.paint(Style::Color::Yellow, "~") + " " + field_line(field, value_style);
    }
    for (const NodeChange& change : difference.nodes) text += node_text(change, value_style);
    return text;
}

Ordered subject_json(const Subject& subject) {
    return {
        {"subject", subject.name},
        {"workflow", subject.definition.name},
        {"version", subject.definition.version},
    };
}

Ordered json_of(const Subject& before, const Subject& after, const Difference& difference) {
    Ordered json = {{"before", subject_json(before)}, {"after", subject_json(after)}};
    json.update(view::difference_json(difference));
    return json;
}

/// A value as code in Markdown, also in a cell of a table.
std::string code_span(std::string_view value) {
    std::string text = one_line(value);
    std::size_t longest = 0;
    for (std::size_t at = text.find('`'); at != std::string::npos;) {
        const std::size_t end = std::min(text.find_first_not_of('`', at), text.size());
        longest = std::max(longest, end - at);
        at = text.find('`', end);
    }
    for (std::size_t at = text.find('|'); at != std::string::npos; at = text.find('|', at + 2)) {
        text.insert(at, "\\");
    }
    const std::string ticks(longest + 1, '`');
    const std::string blank = text.starts_with('`') || text.ends_with('`') ? " " : "";
    return ticks + blank + text + blank + ticks;
}

std::string markdown_value(const std::optional<std::string>& value) {
    if (!value) return "–";
    const bool is_long = value->size() > kValueBytesShown;
    return code_span(is_long ? value->substr(0, kValueBytesShown) + "…" : *value);
}

std::string markdown_field(const FieldChange& field) {
    return fmt::format(
        "{}: {} → {}",
        code_span(field.pointer),
        markdown_value(field.before),
        markdown_value(field.after)
    );
}

std::string markdown_row(const NodeChange& change) {
    const bool is_moved_too = change.is_moved && change.kind == NodeChange::Kind::Changed;
    std::vector<std::string> lines;
    if (change.is_moved) {
        lines.push_back(fmt::format(
            "from {} to {}", code_span(change.pointer_before), code_span(change.pointer_after)
        ));
    } else {
        const std::string& pointer =
            change.pointer_after.empty() ? change.pointer_before : change.pointer_after;
        lines.push_back("at " + code_span(pointer));
    }
    for (const FieldChange& field : change.fields) lines.push_back(markdown_field(field));
    return fmt::format(
        "| {} | {} | {} | {}{} | {} |\n",
        diagram::style_of(note_kind(change.kind)).sign,
        code_span(change.name),
        change.node_kind,
        to_string(change.kind),
        is_moved_too ? ", moved" : "",
        fmt::join(lines, "<br>")
    );
}

/// For a comment in a review: what has changed, and the picture of it.
std::string markdown_of(
    const Subject& before,
    const Subject& after,
    const Difference& difference,
    const std::string& picture
) {
    if (difference.is_empty()) {
        return fmt::format("### {}: no difference\n", code_span(title_of(after)));
    }
    std::string text = fmt::format(
        "### {} → {}\n\n{}\n",
        code_span(title_of(before)),
        code_span(title_of(after)),
        counts_of(difference)
    );
    if (difference.needs_version) {
        text += fmt::format(
            "\n**Both are version {}: give the changed workflow a new version.**\n",
            after.definition.version
        );
    }
    text += "\n| | node | kind | change | where and what |\n|---|---|---|---|---|\n";
    if (!difference.workflow.empty()) {
        std::vector<std::string> lines;
        for (const FieldChange& field : difference.workflow) lines.push_back(markdown_field(field));
        text += fmt::format("| ~ | | workflow | changed | {} |\n", fmt::join(lines, "<br>"));
    }
    for (const NodeChange& change : difference.nodes) text += markdown_row(change);
    return text +
           fmt::format(
               "\n<details><summary>Picture</summary>\n\n```mermaid\n{}{}```\n\n</details>\n",
               picture,
               picture.ends_with('\n') ? "" : "\n"
           );
}

/// Which parts of a node have changed: the first key of each pointer.
std::string keys_of(const NodeChange& change) {
    std::vector<std::string> keys;
    for (const FieldChange& field : change.fields) {
        const std::size_t end = field.pointer.find('/', 1);
        const std::string key = field.pointer.substr(1, end == std::string::npos ? end : end - 1);
        if (keys.empty() || keys.back() != key) keys.push_back(key);
    }
    if (change.is_moved && change.kind == NodeChange::Kind::Changed) keys.emplace_back("moved");
    return fmt::format("{}", fmt::join(keys, ", "));
}

diagram::Notes notes_of(const Subject& before, const Subject& after, const Difference& difference) {
    diagram::Notes notes;
    for (const NodeChange& change : difference.nodes) {
        notes.nodes[change.name] = {note_kind(change.kind), keys_of(change)};
    }
    notes.headline = fmt::format("{} and {}: ", before.name, after.name) +
                     (difference.is_empty() ? "no difference" : counts_of(difference));
    return notes;
}

}  // namespace

std::optional<int> split_version(std::string& name) {
    const std::size_t at = name.rfind('@');
    if (at == std::string::npos) return std::nullopt;
    const std::string_view digits = std::string_view(name).substr(at + 1);
    int version = 0;
    const auto [end, error] =
        std::from_chars(digits.data(), digits.data() + digits.size(), version);
    const bool is_number = error == std::errc() && end == digits.data() + digits.size();
    if (!is_number || version < 1 || version > DefinitionLimits::kVersionMax) {
        throw Error(
            ErrorCode::InvalidArgument,
            fmt::format(
                "\"{}\" is not a version. Write a number from 1 to {} after the @, such as "
                "order@3, or the name of a file.",
                one_line(std::string(digits)),
                DefinitionLimits::kVersionMax
            )
        );
    }
    name.resize(at);
    return version;
}

Definition read_registered(Session& session, const std::string& command, const std::string& word) {
    std::string name = word;
    const std::optional<int> version = split_version(name);
    return *session.connect(command).definition(name, version);
}

bool names_version(const std::string& word) {
    std::string name = word;
    return !word.starts_with("key:") && split_version(name) && !name.empty();
}

Definition read_compared(Session& session, const std::string& word) {
    return read_subject(session, word).definition;
}

int compare_workflows(Session& session, const DiffOptions& options) {
    if (options.before == "-" && options.after == "-") {
        throw Error(ErrorCode::InvalidArgument, "Only one of the two workflows can be stdin.");
    }
    const std::string format =
        options.output.empty() ? "" : picture_format("diff", {}, options.output);
    const Subject before = read_subject(session, options.before);
    const Subject after = read_subject(session, options.after);
    const Difference difference = model::compare(before.definition, after.definition);
    const auto draw = [&](const std::string& picture, bool is_shown = false) {
        const Definition merged = model::with_removed_nodes(before.definition, after.definition);
        const diagram::Notes notes = notes_of(before, after, difference);
        return draw_picture(session, {merged, {}, notes}, picture, is_shown);
    };
    if (options.format == "json" || (options.format.empty() && session.options().is_json)) {
        session.print_json(json_of(before, after, difference));
    } else if (options.format == "md") {
        session.print(markdown_of(before, after, difference, draw("mermaid")));
    } else if (options.format == "svg" && session.options().is_json) {
        session.print_json({{"format", "svg"}, {"diagram", draw("svg", true)}});
    } else if (options.format == "svg") {
        session.print(draw("svg"));
    } else {
        const int columns = session.columns();
        const ValueStyle look{.style = session.out(), .is_whole = columns == 0};
        session.print(folded(text_of(before, after, difference, look), columns));
    }
    if (!options.output.empty()) {
        write_file(options.output, draw(format));
        session.note(fmt::format("Wrote {}\n", one_line(options.output)));
    }
    if (difference.is_empty()) return kOk;
    if (!difference.needs_version) return kDiffers;
    session.note(fmt::format(
        "Both are version {}: give the changed workflow a new version.\n", after.definition.version
    ));
    return options.requires_version ? kRefused : kDiffers;
}

}  // namespace ebb::cli
