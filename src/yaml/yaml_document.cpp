#include "yaml/yaml_document.h"

#include <algorithm>
#include <map>
#include <memory>
#include <utility>

#include <fmt/format.h>
#include <libfyaml.h>

#include <ebb/definition.h>

#include "core/expression/source.h"
#include "core/model/words.h"
#include "support/json.h"
#include "yaml/scalar.h"
#include "yaml/scalar_map.h"

// The only file that knows libfyaml. It is used for its events only: what scalars mean, aliases and
// limits are ours.

namespace ebb::yaml {

namespace {

using model::Document;
using model::Place;

struct DiagDeleter {
    void operator()(fy_diag* diag) const { fy_diag_destroy(diag); }
};

struct ParserDeleter {
    void operator()(fy_parser* parser) const { fy_parser_destroy(parser); }
};

struct EventDeleter {
    fy_parser* parser = nullptr;

    void operator()(fy_event* event) const { fy_parser_event_free(parser, event); }
};

using EventPtr = std::unique_ptr<fy_event, EventDeleter>;

std::string text_of(fy_token* token) {
    std::size_t size = 0;
    const char* text = token == nullptr ? nullptr : fy_token_get_text(token, &size);
    return text == nullptr ? std::string() : std::string(text, size);
}

Place to_place(const fy_mark* mark) {
    return mark == nullptr ? Place{} : Place{.line = mark->line + 1, .column = mark->column + 1};
}

std::size_t count_nodes(const Document& document) {
    std::size_t count = 1;
    for (const Document& element : document.elements) count += count_nodes(element);
    for (const Document::Member& member : document.members) count += count_nodes(member.value);
    return count;
}

int depth_of(const Document& document) {
    int deepest = 0;
    for (const Document& element : document.elements) {
        deepest = std::max(deepest, depth_of(element));
    }
    for (const Document::Member& member : document.members) {
        deepest = std::max(deepest, depth_of(member.value));
    }
    return document.is_list() || document.is_map() ? deepest + 1 : 0;
}

/// The place behind `text`, which begins at `start`.
Place place_behind(Place start, std::string_view text) {
    const auto lines = std::count(text.begin(), text.end(), '\n');
    const std::size_t line_start = text.rfind('\n') + 1;  // npos + 1 = 0
    const auto count = expression::count_characters(text.substr(line_start));
    start.line += static_cast<int>(lines);
    start.column = static_cast<int>(count) + (lines == 0 ? start.column : 1);
    return start;
}

class YamlParser {
 public:
    YamlParser(std::string_view text, const std::string& file) : text_(text), file_(file) {
        diag_.reset(fy_diag_create(nullptr));
        fy_diag_set_collect_errors(diag_.get(), true);
        fy_parse_cfg config{};
        config.search_path = "";
        // Depth is bounded here; the limit of libfyaml is less than a definition may need.
        config.flags = static_cast<fy_parse_cfg_flags>(FYPCF_QUIET | FYPCF_DISABLE_DEPTH_LIMIT);
        config.diag = diag_.get();
        parser_.reset(fy_parser_create(&config));
        if (parser_ == nullptr ||
            fy_parser_set_string(parser_.get(), text.empty() ? "" : text.data(), text.size()) !=
                0) {
            throw Error(ErrorCode::Internal, "libfyaml could not be set up.");
        }
    }

    Document parse() {
        expect(next(), FYET_STREAM_START);
        if (const EventPtr start = next(); start->type != FYET_DOCUMENT_START) {
            fail(
                "empty_document",
                {.line = 1, .column = 1},
                "There is no document: begin with `workflow:`."
            );
        }
        Document document = node(next(), 0);
        expect(next(), FYET_DOCUMENT_END);
        if (const EventPtr end = next(); end->type != FYET_STREAM_END) {
            fail(
                "several_documents",
                to_place(fy_event_start_mark(end.get())),
                "A file holds one definition: remove the `---` and what follows, or make it a file "
                "of its own."
            );
        }
        return document;
    }

 private:
    std::string_view text_;
    const std::string& file_;
    std::unique_ptr<fy_diag, DiagDeleter> diag_;
    std::unique_ptr<fy_parser, ParserDeleter> parser_;
    std::map<std::string, Document> anchors_;
    std::size_t alias_nodes_ = 0;
    Place last_;
    Place last_end_;
    std::size_t bracket_at_ = 0;  ///< where the last event began

    [[noreturn]] void fail(std::string code, Place place, std::string message) const {
        model::throw_document_error({
            .code = std::move(code),
            .path = "",
            .message = std::move(message),
            .line = place.line,
            .column = place.column,
            .file = file_,
        });
    }

    [[noreturn]] void fail_syntax() const {
        void* position = nullptr;
        const fy_diag_error* error = fy_diag_errors_iterate(diag_.get(), &position);
        if (error == nullptr) fail("yaml_syntax", last_, "This is not YAML.");
        std::string reason = clean_text(error->msg == nullptr ? "" : error->msg, 200);
        fail(
            "yaml_syntax",
            {.line = error->line, .column = error->column},
            fmt::format("This is not YAML: {}.", reason)
        );
    }

    EventPtr next() {
        EventPtr event(fy_parser_parse(parser_.get()), EventDeleter{parser_.get()});
        if (event == nullptr) fail_syntax();
        return event;
    }

    void expect(const EventPtr& event, fy_event_type type) const {
        if (event->type != type) fail("yaml_syntax", last_, "This is not YAML.");
    }

    Document node(EventPtr event, int depth) {
        mark(fy_event_start_mark(event.get()), fy_event_end_mark(event.get()));
        switch (event->type) {
            case FYET_SCALAR:
                return anchored(event->scalar.anchor, scalar(*event));
            case FYET_ALIAS:
                return alias(*event, depth);
            case FYET_SEQUENCE_START: {
                const std::string name = text_of(event->sequence_start.anchor);
                check_tag(event->sequence_start.tag, "seq");
                return keep(name, sequence(depth + 1));
            }
            case FYET_MAPPING_START: {
                const std::string name = text_of(event->mapping_start.anchor);
                check_tag(event->mapping_start.tag, "map");
                return keep(name, mapping(depth + 1));
            }
            default:
                fail("yaml_syntax", last_, "This is not YAML.");
        }
    }

    void mark(const fy_mark* start, const fy_mark* end) {
        if (start != nullptr) {
            last_ = to_place(start);
            bracket_at_ = start->input_pos;
        }
        if (end != nullptr) last_end_ = to_place(end);
    }

    /// A block ends with its last value; what is in brackets ends behind them.
    static void close(Document& container, fy_event& end) {
        if (container.is_flow) {
            container.end = to_place(fy_event_end_mark(&end));
        } else if (!container.elements.empty()) {
            container.end = container.elements.back().end;
        } else if (!container.members.empty()) {
            container.end = container.members.back().value.end;
        }
    }

    void check_depth(int depth) const {
        if (depth <= DefinitionLimits::kDocumentDepthMax) return;
        fail(
            "nested_too_deeply",
            last_,
            fmt::format(
                "Lists and maps are nested more than {} deep; make the structure flatter.",
                DefinitionLimits::kDocumentDepthMax
            )
        );
    }

    Document sequence(int depth) {
        check_depth(depth);
        Document list{.type = Document::Type::List, .place = last_, .is_flow = is_bracket('[')};
        EventPtr event = next();
        for (; event->type != FYET_SEQUENCE_END; event = next()) {
            list.elements.push_back(node(std::move(event), depth));
        }
        close(list, *event);
        return list;
    }

    Document mapping(int depth) {
        check_depth(depth);
        Document map{.type = Document::Type::Map, .place = last_, .is_flow = is_bracket('{')};
        EventPtr event = next();
        for (; event->type != FYET_MAPPING_END; event = next()) {
            Document::Member member{.key = key(*event), .place = last_, .end = last_end_};
            member.is_quoted = event->scalar.value != nullptr &&
                               fy_token_scalar_style(event->scalar.value) != FYSS_PLAIN;
            member.value = node(next(), depth);
            map.members.push_back(std::move(member));
        }
        close(map, *event);
        return map;
    }

    std::string key(const fy_event& event) {
        if (event.type != FYET_SCALAR) {
            fail("invalid_key", last_, "A key must be a text, not a list, a map or an alias.");
        }
        const fy_mark* start =
            event.scalar.value == nullptr ? nullptr : fy_token_start_mark(event.scalar.value);
        if (start != nullptr) mark(start, fy_token_end_mark(event.scalar.value));
        std::string text = text_of(event.scalar.value);
        if (text == "<<") {
            fail(
                "invalid_key",
                last_,
                "YAML 1.2 has no merge key `<<`: say what all steps share in `defaults:`."
            );
        }
        if (text.empty()) fail("invalid_key", last_, "A key is missing before the `:`.");
        return text;
    }

    Document alias(const fy_event& event, int depth) {
        const std::string name = text_of(event.alias.anchor);
        const auto found = anchors_.find(name);
        if (found == anchors_.end()) {
            fail(
                "unknown_alias",
                last_,
                fmt::format(
                    "There is no complete anchor &{} before this alias.", clean_text(name, 80)
                )
            );
        }
        spend(count_nodes(found->second));
        check_depth(depth + depth_of(found->second));
        return found->second;
    }

    Document anchored(fy_token* anchor, Document document) {
        return keep(text_of(anchor), std::move(document));
    }

    Document keep(const std::string& anchor, Document document) {
        if (!anchor.empty()) {
            spend(count_nodes(document));
            anchors_[anchor] = document;
        }
        return document;
    }

    void spend(std::size_t nodes) {
        alias_nodes_ += nodes;
        if (alias_nodes_ <= kAliasNodesMax) return;
        fail(
            "too_many_aliases",
            last_,
            fmt::format(
                "Anchors and aliases stand for more than {} values: write them out, or use fewer.",
                kAliasNodesMax
            )
        );
    }

    /// Only the tags of the core schema, and only where they say what is there anyway or `!!str`.
    std::string check_tag(fy_token* tag, std::string_view kind) const {
        if (tag == nullptr) return {};
        const std::string text = text_of(tag);
        constexpr std::string_view kCore = "tag:yaml.org,2002:";
        const std::string name = text.starts_with(kCore) ? text.substr(kCore.size())
                                 : text == "!"           ? "!"
                                                         : "";
        const bool is_scalar_tag = name == "str" || name == "int" || name == "float" ||
                                   name == "bool" || name == "null" || name == "!";
        if (name == kind || (kind == "scalar" && is_scalar_tag) || (name == "!" && !kind.empty())) {
            return name;
        }
        fail(
            "unknown_tag",
            last_,
            fmt::format(
                "The tag {} means nothing here: remove it. Known are !!str, !!int, !!float, "
                "!!bool, !!null, !!seq and !!map.",
                model::in_quotes(text)
            )
        );
    }

    Document scalar(const fy_event& event) {
        const std::string tag = check_tag(event.scalar.tag, "scalar");
        fy_token* value = event.scalar.value;
        const std::string text = text_of(value);
        Document document{.place = last_, .end = last_end_};
        if (value != nullptr) set_source(document, value);
        const bool is_plain = value == nullptr || fy_token_scalar_style(value) == FYSS_PLAIN;
        const bool is_text = tag == "str" || tag == "!" || (tag.empty() && !is_plain);
        const std::optional<Json> resolved = is_text ? Json(text) : resolve_plain(text);
        if (!resolved) {
            fail(
                "not_json",
                last_,
                fmt::format("{} is a number that JSON does not have.", model::in_quotes(text))
            );
        }
        document.scalar = *resolved;
        if (text.find('\0') != std::string::npos) {
            fail("invalid_text", last_, "A text contains the character U+0000: remove it.");
        }
        switch (resolved->type()) {
            case Json::value_t::null:
                document.type = Document::Type::Null;
                break;
            case Json::value_t::boolean:
                document.type = Document::Type::Bool;
                break;
            case Json::value_t::string:
                document.type = Document::Type::Text;
                break;
            default:
                document.type = Document::Type::Number;
        }
        check_type_tag(tag, document);
        return document;
    }

    void check_type_tag(const std::string& tag, const Document& document) const {
        const bool fits = tag.empty() || tag == "!" || tag == "str" ||
                          (tag == "null" && document.type == Document::Type::Null) ||
                          (tag == "bool" && document.type == Document::Type::Bool) ||
                          (tag == "int" && document.scalar.is_number_integer()) ||
                          (tag == "float" && document.scalar.is_number());
        if (fits) return;
        fail("unknown_tag", last_, fmt::format("This is no !!{}.", tag));
    }

    static Document::Style style_of(fy_token* token) {
        switch (fy_token_scalar_style(token)) {
            case FYSS_SINGLE_QUOTED:
                return Document::Style::SingleQuoted;
            case FYSS_DOUBLE_QUOTED:
                return Document::Style::DoubleQuoted;
            case FYSS_LITERAL:
                return Document::Style::Literal;
            case FYSS_FOLDED:
                return Document::Style::Folded;
            default:
                return Document::Style::Plain;
        }
    }

    void set_source(Document& document, fy_token* token) const {
        const fy_mark* start = fy_token_start_mark(token);
        const fy_mark* end = fy_token_end_mark(token);
        const bool is_known = start != nullptr && end != nullptr &&
                              start->input_pos <= end->input_pos && end->input_pos <= text_.size();
        if (!is_known) return;
        document.from = static_cast<std::uint32_t>(start->input_pos);
        document.to = static_cast<std::uint32_t>(end->input_pos);
        document.style = style_of(token);
        const bool is_block =
            document.style == Document::Style::Literal || document.style == Document::Style::Folded;
        if (is_block) trim_block(document, to_place(start));
    }

    /// A block is marked from its first to its last character: libfyaml has whole lines.
    void trim_block(Document& document, const Place& start) const {
        constexpr std::string_view kBlanks = " \t\r\n";
        const std::string_view raw = text_.substr(document.from, document.to - document.from);
        const std::size_t first = raw.find_first_not_of(kBlanks);
        if (first == std::string_view::npos) return;
        const std::size_t last = raw.find_last_not_of(kBlanks) + 1;
        document.place = place_behind(start, raw.substr(0, first));
        document.end = place_behind(document.place, raw.substr(first, last - first));
    }

    bool is_bracket(char bracket) const {
        return bracket_at_ < text_.size() && text_[bracket_at_] == bracket;
    }
};

}  // namespace

Document parse_yaml_document(std::string_view text, const std::string& file) {
    model::check_document_size(text, file);
    if (clean_text(text, text.size()) != text) {
        model::throw_document_error({
            .code = "invalid_text",
            .path = "",
            .message = "The file must be UTF-8 without the character U+0000.",
            .file = file,
        });
    }
    Document document = YamlParser(text, file).parse();
    model::number_in_order(document);
    return document;
}

model::TextPlaces places_in(std::string_view text) {
    return [text](const Document& scalar, std::size_t byte_of_text) -> std::optional<Place> {
        if (!scalar.is_text() || scalar.to > text.size() || scalar.from >= scalar.to) return {};
        const DecodedScalar decoded =
            decode_scalar(text.substr(scalar.from, scalar.to - scalar.from), scalar.style);
        const std::string& value = scalar.text();
        // A block may have more line breaks at its end than its header keeps.
        if (!decoded.text.starts_with(value) || byte_of_text > value.size()) return {};
        const std::size_t at = scalar.from + decoded.places[byte_of_text];
        const bool is_block =
            scalar.style == Document::Style::Literal || scalar.style == Document::Style::Folded;
        const std::size_t first =
            is_block ? text.find_first_not_of(" \t\r\n", scalar.from) : scalar.from;
        if (first > at) return {};
        return place_behind(scalar.place, text.substr(first, at - first));
    };
}

}  // namespace ebb::yaml
