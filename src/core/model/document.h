#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include <ebb/error.h>
#include <ebb/json.h>

namespace ebb::model {

/// Both count from 1; line 0 = unknown.
struct Place {
    int line = 0;
    int column = 0;
};

/// A parsed JSON or YAML text. Unlike Json it keeps the order of keys, keeps keys that come twice,
/// and knows the place of everything.
struct Document {
    enum class Type { Null, Bool, Number, Text, List, Map };
    /// How a scalar is written.
    enum class Style : std::uint8_t { Plain, SingleQuoted, DoubleQuoted, Literal, Folded };
    struct Member;

    Type type = Type::Null;
    Json scalar{};  ///< of Bool, Number and Text
    std::vector<Document> elements;
    std::vector<Member> members;
    Place place{};
    Place end{};  ///< behind its last character
    /// The bytes of a scalar in the text, without the quotes; both 0 if it has none.
    std::uint32_t from = 0;
    std::uint32_t to = 0;
    Style style = Style::Plain;
    bool is_flow = false;  ///< of lists and maps: written in brackets
    /// Its number in the order of the text, its container's being lower.
    std::size_t order = 0;

    bool is_text() const { return type == Type::Text; }

    bool is_map() const { return type == Type::Map; }

    bool is_list() const { return type == Type::List; }

    /// Only of a text.
    const std::string& text() const { return scalar.get_ref<const std::string&>(); }

    /// The last of this key; null when there is none.
    const Document* find(std::string_view key) const;
    Json to_json() const;
};

struct Document::Member {
    std::string key;
    Place place{};
    Place end{};             ///< of the key
    bool is_quoted = false;  ///< the key; its place is then inside of the quotes
    Document value;
};

/// The place in the source of a byte of a text's value, also in escapes, folded lines and blocks.
/// Empty if it is not known.
using TextPlaces =
    std::function<std::optional<Place>(const Document& scalar, std::size_t byte_of_text)>;

/// Throws DefinitionError with the place of the syntax error or the limit that is exceeded. `file`
/// is only named.
Document parse_json_document(std::string_view text, const std::string& file = {});

/// Throws DefinitionError when `json` is nested too deeply or holds what JSON cannot.
Document to_document(const Json& json);

/// Sets `order` throughout.
void number_in_order(Document& document);

/// Where a JSON pointer leads.
struct Location {
    std::string path;                    ///< as the document is written
    const Document* document = nullptr;  ///< the value, or the nearest container that exists
};

/// Finds the place that `pointer`, a pointer into the canonical JSON form, means in a document that
/// may use the shorter forms: a scalar for a step or a compensation, a map for branches, a graph's
/// keys at the top.
Location locate(const Document& root, std::string_view pointer);

/// One problem of a document as a whole.
[[noreturn]] void throw_document_error(Diagnostic diagnostic);

/// Throws unless `text` has at most DefinitionLimits::kDefinitionBytesMax bytes.
void check_document_size(std::string_view text, std::string_view file);

}  // namespace ebb::model
