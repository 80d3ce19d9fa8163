#include "yaml/yaml_writer.h"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

#include "yaml/scalar.h"

namespace ebb::yaml {

namespace {

using Ordered = nlohmann::ordered_json;

constexpr std::size_t kIndent = 2;
/// YAML allows 1024 characters for a key before its `:`; a longer one is written as `? key`.
constexpr std::size_t kSimpleKeyBytesMax = 200;

bool is_control(char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte < 0x20 || byte == 0x7f;
}

/// How many bytes at `at` are a character that YAML does not allow as it is, or that some parser
/// takes for a line break: C1, U+2028, U+2029, U+FEFF, U+FFFE, U+FFFF. 0 = none.
std::size_t special_at(std::string_view text, std::size_t at) {
    const auto byte = [&](std::size_t i) {
        return at + i < text.size() ? static_cast<unsigned char>(text[at + i]) : 0U;
    };
    if (byte(0) == 0xC2 && byte(1) >= 0x80 && byte(1) < 0xA0) return 2;
    if (byte(0) == 0xE2 && byte(1) == 0x80 && (byte(2) == 0xA8 || byte(2) == 0xA9)) return 3;
    if (byte(0) == 0xEF && byte(1) == 0xBB && byte(2) == 0xBF) return 3;
    if (byte(0) == 0xEF && byte(1) == 0xBF && byte(2) >= 0xBE) return 3;
    return 0;
}

bool has_special_characters(std::string_view text) {
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (special_at(text, i) != 0) return true;
    }
    return false;
}

/// May stand without quotes, as a key or as a value, in block and in flow style.
bool is_plain(std::string_view text) {
    constexpr std::string_view kIndicators = "-?:,[]{}#&*!|>'\"%@`";
    if (text.empty() || text.front() == ' ' || text.back() == ' ' || text.back() == ':')
        return false;
    if (kIndicators.find(text.front()) != std::string_view::npos) return false;
    if (text.find(": ") != std::string_view::npos || text.find(" #") != std::string_view::npos) {
        return false;
    }
    if (text.find_first_of(",[]{}") != std::string_view::npos) return false;
    if (text.starts_with("---") || text.starts_with("...")) return false;
    if (std::any_of(text.begin(), text.end(), is_control)) return false;
    if (has_special_characters(text)) return false;
    const auto resolved = resolve_plain(text);
    return resolved && resolved->is_string();
}

std::string in_double_quotes(std::string_view text) {
    std::string quoted = "\"";
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        if (const std::size_t size = special_at(text, i); size != 0) {
            // Never above U+FFFF.
            unsigned code = static_cast<unsigned char>(c) & (size == 2 ? 0x1FU : 0x0FU);
            for (std::size_t k = 1; k < size; ++k) {
                code = code << 6 | (static_cast<unsigned char>(text[i + k]) & 0x3FU);
            }
            quoted += fmt::format("\\u{:04x}", code);
            i += size - 1;
        } else if (c == '"' || c == '\\') {
            quoted += '\\';
            quoted += c;
        } else if (c == '\n') {
            quoted += "\\n";
        } else if (c == '\t') {
            quoted += "\\t";
        } else if (is_control(c)) {
            quoted += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
        } else {
            quoted += c;
        }
    }
    return quoted + '"';
}

/// May be a literal block: lines of ordinary characters that do not begin with a space, and one or
/// no line break at the end.
bool is_literal(std::string_view text) {
    if (text.find('\n') == std::string_view::npos || has_special_characters(text)) return false;
    if (text.front() == '\n' || text.front() == ' ' || text.ends_with("\n\n")) return false;
    if (text.find(" \n") != std::string_view::npos || text.ends_with(' ')) return false;
    return std::none_of(text.begin(), text.end(), [](char c) {
        return c != '\n' && is_control(c);
    });
}

class YamlWriter {
 public:
    std::string write(const Ordered& value) {
        map(value, 0);
        return std::move(out_);
    }

 private:
    std::string out_;

    void indent(std::size_t depth) { out_.append(depth * kIndent, ' '); }

    void scalar_text(const std::string& text) {
        out_ += is_plain(text) ? text : in_double_quotes(text);
    }

    void literal(const std::string& text, std::size_t depth) {
        out_ += text.ends_with('\n') ? "|" : "|-";
        std::string_view rest = text;
        while (!rest.empty()) {
            const std::string_view line = rest.substr(0, rest.find('\n'));
            rest.remove_prefix(std::min(rest.size(), line.size() + 1));
            out_ += '\n';
            if (!line.empty()) indent(depth);
            out_ += line;
        }
        out_ += '\n';
    }

    static bool is_inline(const Ordered& value) { return !value.is_structured() || value.empty(); }

    /// What follows `key:` or `-`, up to the end of the line; `depth` is that of what would be
    /// inside.
    void value(const Ordered& value, std::size_t depth) {
        if (value.is_string()) {
            const auto& text = value.get_ref<const std::string&>();
            if (is_literal(text)) return literal(text, depth);
            scalar_text(text);
        } else {
            out_ += value.dump();
        }
        out_ += '\n';
    }

    void write_key(const std::string& key, std::size_t depth) {
        const bool is_long = key.size() > kSimpleKeyBytesMax;
        if (is_long) out_ += "? ";
        scalar_text(key);
        if (is_long) {
            out_ += '\n';
            indent(depth);
        }
        out_ += ':';
    }

    /// The first line of the map or list is written where the cursor stands.
    void map(const Ordered& map, std::size_t depth) {
        bool is_first = true;
        for (const auto& [key, inner] : map.items()) {
            if (!is_first) indent(depth);
            is_first = false;
            write_key(key, depth);
            if (is_inline(inner)) {
                out_ += ' ';
                value(inner, depth + 1);
                continue;
            }
            out_ += '\n';
            indent(depth + 1);
            inner.is_object() ? this->map(inner, depth + 1) : list(inner, depth + 1);
        }
    }

    void list(const Ordered& list, std::size_t depth) {
        bool is_first = true;
        for (const Ordered& inner : list) {
            if (!is_first) indent(depth);
            is_first = false;
            out_ += "- ";
            if (is_inline(inner)) {
                value(inner, depth + 1);
            } else if (inner.is_object()) {
                map(inner, depth + 1);
            } else {
                this->list(inner, depth + 1);
            }
        }
    }
};

}  // namespace

std::string write_yaml(const Ordered& value) {
    return YamlWriter().write(value);
}

}  // namespace ebb::yaml
