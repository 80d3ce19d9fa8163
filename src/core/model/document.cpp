#include "core/model/document.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include <fmt/format.h>

#include <ebb/definition.h>

#include "core/model/words.h"
#include "support/json.h"
#include "support/json_cure.h"
#include "support/json_pointer.h"

namespace ebb::model {

const Document* Document::find(std::string_view key) const {
    const auto found = std::find_if(members.rbegin(), members.rend(), [key](const Member& member) {
        return member.key == key;
    });
    return found == members.rend() ? nullptr : &found->value;
}

Json Document::to_json() const {
    if (type == Type::List) {
        Json list = Json::array();
        for (const Document& element : elements) list.push_back(element.to_json());
        return list;
    }
    if (type == Type::Map) {
        Json map = Json::object();
        for (const Member& member : members) map[member.key] = member.value.to_json();
        return map;
    }
    return scalar;
}

void throw_document_error(Diagnostic diagnostic) {
    throw DefinitionError(std::vector<Diagnostic>{std::move(diagnostic)});
}

void check_document_size(std::string_view text, std::string_view file) {
    if (text.size() <= DefinitionLimits::kDefinitionBytesMax) return;
    throw_document_error({
        .code = "definition_too_large",
        .path = "",
        .message = fmt::format(
            "The definition has {} bytes; at most {} are allowed. Split the workflow.",
            text.size(),
            DefinitionLimits::kDefinitionBytesMax
        ),
        .file = std::string(file),
    });
}

namespace {

[[noreturn]] void throw_too_deep(const std::string& file) {
    throw_document_error({
        .code = "nested_too_deeply",
        .path = "",
        .message = fmt::format(
            "Lists and maps are nested more than {} deep; make the structure flatter.",
            DefinitionLimits::kDocumentDepthMax
        ),
        .file = file,
    });
}

/// Builds a Document from nlohmann's parser without its recursion, so depth is bounded by the check
/// alone.
class DocumentSax : public nlohmann::json_sax<Json> {
 public:
    DocumentSax(std::string_view text, const std::string& file) : text_(text), file_(file) {}

    Document take() { return std::move(root_); }

    bool null() override { return put({}); }

    bool boolean(bool value) override {
        return put({.type = Document::Type::Bool, .scalar = value});
    }

    bool number_integer(number_integer_t value) override {
        return put({.type = Document::Type::Number, .scalar = value});
    }

    bool number_unsigned(number_unsigned_t value) override {
        return put({.type = Document::Type::Number, .scalar = value});
    }

    bool number_float(number_float_t value, const string_t&) override {
        return put({.type = Document::Type::Number, .scalar = value});
    }

    bool string(string_t& value) override {
        check_nul(value);
        return put({.type = Document::Type::Text, .scalar = std::move(value)});
    }

    bool binary(binary_t&) override { return false; }

    bool start_object(std::size_t) override { return open(Document::Type::Map); }

    bool key(string_t& value) override {
        check_nul(value);
        key_ = std::move(value);
        return true;
    }

    bool end_object() override { return close(); }

    bool start_array(std::size_t) override { return open(Document::Type::List); }

    bool end_array() override { return close(); }

    bool parse_error(std::size_t position, const std::string&, const Json::exception& error)
        override {
        std::size_t at = std::min(position == 0 ? 0 : position - 1, text_.size());
        const std::size_t comma = comma_before(at);
        const bool is_comma = comma != std::string_view::npos;
        if (is_comma) at = comma;
        const std::string_view before = text_.substr(0, at);
        const std::size_t line_start = before.rfind('\n') + 1;
        throw_document_error({
            .code = "json_syntax",
            .path = "",
            .message = is_comma ? "This is not JSON: nothing follows this comma. Remove it."
                                : fmt::format(
                                      "This is not JSON: {}.{}",
                                      clean_text(json_fault(error.what()), kFaultBytesMax),
                                      json_cure(text_, at)
                                  ),
            .line = static_cast<int>(std::count(before.begin(), before.end(), '\n')) + 1,
            .column = static_cast<int>(at - line_start) + 1,
            .file = file_,
        });
    }

 private:
    static constexpr std::size_t kFaultBytesMax = 200;

    std::string_view text_;
    const std::string& file_;
    Document root_;
    std::vector<Document*> open_;
    std::string key_;

    /// If what closes a list or map at `at` stands behind a comma: where that is. Else npos.
    std::size_t comma_before(std::size_t at) const {
        constexpr std::size_t kNone = std::string_view::npos;
        if (at >= text_.size() || (text_[at] != ']' && text_[at] != '}')) return kNone;
        const std::size_t last = text_.substr(0, at).find_last_not_of(" \t\r\n");
        return last != kNone && text_[last] == ',' ? last : kNone;
    }

    void check_nul(const std::string& text) const {
        if (text.find('\0') == std::string::npos) return;
        throw_document_error({
            .code = "invalid_text",
            .path = "",
            .message = "A text contains the character U+0000, which no store can keep: remove it.",
            .file = file_,
        });
    }

    Document* place(Document&& document) {
        if (open_.empty()) {
            root_ = std::move(document);
            return &root_;
        }
        Document& container = *open_.back();
        if (container.is_list()) return &container.elements.emplace_back(std::move(document));
        Document::Member member{.key = std::move(key_), .value = std::move(document)};
        return &container.members.emplace_back(std::move(member)).value;
    }

    bool put(Document&& document) {
        place(std::move(document));
        return true;
    }

    bool open(Document::Type type) {
        if (open_.size() >= std::size_t{DefinitionLimits::kDocumentDepthMax}) throw_too_deep(file_);
        open_.push_back(place({.type = type}));
        return true;
    }

    bool close() {
        open_.pop_back();
        return true;
    }
};

Document convert(const Json& json, int depth) {
    if (depth > DefinitionLimits::kDocumentDepthMax) throw_too_deep({});
    Document document{.scalar = json.is_structured() ? Json() : json};
    switch (json.type()) {
        case Json::value_t::null:
            break;
        case Json::value_t::boolean:
            document.type = Document::Type::Bool;
            break;
        case Json::value_t::string:
            document.type = Document::Type::Text;
            break;
        case Json::value_t::array:
            document.type = Document::Type::List;
            for (const Json& element : json)
                document.elements.push_back(convert(element, depth + 1));
            break;
        case Json::value_t::object:
            document.type = Document::Type::Map;
            for (const auto& [key, value] : json.items()) {
                document.members.push_back({.key = key, .value = convert(value, depth + 1)});
            }
            break;
        case Json::value_t::number_integer:
        case Json::value_t::number_unsigned:
        case Json::value_t::number_float:
            document.type = Document::Type::Number;
            break;
        case Json::value_t::binary:
        case Json::value_t::discarded:
            throw Error(ErrorCode::InvalidArgument, "A definition cannot contain binary values.");
    }
    return document;
}

void number(Document& document, std::size_t& next) {
    document.order = next++;
    for (Document& element : document.elements) number(element, next);
    for (Document::Member& member : document.members) number(member.value, next);
}

std::string_view take_segment(std::string_view& pointer) {
    pointer.remove_prefix(1);
    const std::string_view segment = pointer.substr(0, pointer.find('/'));
    pointer.remove_prefix(segment.size());
    return segment;
}

template <typename Items>
auto* at_index(Items& items, std::string_view segment) {
    std::size_t index = items.size();
    std::from_chars(segment.data(), segment.data() + segment.size(), index);
    return index < items.size() ? &items[index] : nullptr;
}

}  // namespace

Document parse_json_document(std::string_view text, const std::string& file) {
    check_document_size(text, file);
    DocumentSax sax(text, file);
    Json::sax_parse(text.begin(), text.end(), &sax);
    Document document = sax.take();
    number_in_order(document);
    return document;
}

Document to_document(const Json& json) {
    Document document = convert(json, 0);
    number_in_order(document);
    return document;
}

void number_in_order(Document& document) {
    std::size_t next = 0;
    number(document, next);
}

Location locate(const Document& root, std::string_view pointer) {
    Location location{.path = "", .document = &root};
    // A workflow that is one graph may have the graph's keys itself.
    constexpr std::string_view kGraph = "/steps/0";
    const bool is_graph = root.is_map() && root.find("steps") == nullptr &&
                          root.find("nodes") != nullptr && pointer.starts_with(kGraph);
    if (is_graph) pointer.remove_prefix(kGraph.size());
    if (is_graph && pointer == "/graph") return location;
    bool is_in_branches = false;
    bool is_in_payload = false;
    // The lists of rules may be maps of names.
    const bool is_in_rules =
        pointer.starts_with("/rules/") && !pointer.starts_with("/rules/on_exception/");
    int depth = 0;
    bool is_in_writes = false;
    while (!pointer.empty()) {
        const Document& here = *location.document;
        if (!here.is_map() && !here.is_list()) break;
        const std::string_view segment = take_segment(pointer);
        if (here.is_list()) {
            const Document* element = at_index(here.elements, segment);
            location.path.append("/").append(segment);
            if (element == nullptr) return location.path.append(pointer), location;
            location.document = element;
        } else if (is_in_rules && (depth == 2 || is_in_writes)) {
            const Document::Member* member = at_index(here.members, segment);
            if (member == nullptr) return location;
            location.path += "/" + escape_pointer(member->key);
            location.document = &member->value;
        } else if (is_in_branches) {
            const Document::Member* member = at_index(here.members, segment);
            if (member == nullptr) return location;
            location.path += "/" + escape_pointer(member->key);
            location.document = &member->value;
            // The member's value is the block itself.
            if (!pointer.empty()) take_segment(pointer);
        } else {
            const Document* value = here.find(unescape_pointer(segment));
            location.path.append("/").append(segment);
            if (value == nullptr) return location.path.append(pointer), location;
            location.document = value;
        }
        ++depth;
        is_in_writes = segment == "writes";
        is_in_payload = is_in_payload || segment == "input" || segment == "output" ||
                        segment == "input_schema" || segment == "schema" || segment == "handlers" ||
                        segment == "metadata" || segment == "samples";
        is_in_branches = !is_in_payload && segment == "branches" && location.document->is_map();
    }
    return location;
}

}  // namespace ebb::model
