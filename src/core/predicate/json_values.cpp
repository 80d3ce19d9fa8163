#include "core/predicate/json_values.h"

#include <algorithm>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <ebb/json.h>

#include "core/predicate/numeric.h"

namespace ebb::predicate {

namespace {

void append_string(std::string& out, std::string_view text) {
    out += '"';
    for (const char c : text) {
        switch (c) {
            case '"':
                out += "\\\"";
                break;
            case '\\':
                out += "\\\\";
                break;
            case '\b':
                out += "\\b";
                break;
            case '\f':
                out += "\\f";
                break;
            case '\n':
                out += "\\n";
                break;
            case '\r':
                out += "\\r";
                break;
            case '\t':
                out += "\\t";
                break;
            default:
                if (static_cast<unsigned char>(c) < 0x20) {
                    out += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
                } else {
                    out += c;
                }
        }
    }
    out += '"';
}

bool is_before(const std::string& a, const std::string& b) {
    return a.size() != b.size() ? a.size() < b.size() : a < b;
}

/// Builds the jsonb text of every value on its way through the document.
class TextBuilder : public nlohmann::json_sax<Json> {
 public:
    /// The members of the outermost object, by their keys.
    std::vector<std::pair<std::string, std::string>> members;
    std::string text;
    bool is_too_long = false;

    bool null() override { return value("null"); }

    bool boolean(bool v) override { return value(v ? "true" : "false"); }

    bool number_integer(number_integer_t v) override { return value(std::to_string(v)); }

    bool number_unsigned(number_unsigned_t v) override { return value(std::to_string(v)); }

    bool number_float(number_float_t, const string_t& digits) override {
        const auto number = Numeric::parse(digits);
        if (!number) {
            is_too_long = true;
            return value("0");
        }
        return value(number->to_string());
    }

    bool string(string_t& v) override {
        std::string quoted;
        append_string(quoted, v);
        return value(std::move(quoted));
    }

    bool binary(binary_t&) override { return false; }

    bool start_object(std::size_t) override { return open(true); }

    bool key(string_t& v) override {
        open_.back().keys.push_back(v);
        return true;
    }

    bool end_object() override {
        Level level = std::move(open_.back());
        open_.pop_back();
        // Of equal keys the last one counts.
        std::vector<std::size_t> order(level.keys.size());
        for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
        std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
            return is_before(level.keys[a], level.keys[b]);
        });
        std::string made = "{";
        std::vector<std::pair<std::string, std::string>> kept;
        for (std::size_t i = 0; i < order.size(); ++i) {
            const std::string& name = level.keys[order[i]];
            if (i + 1 < order.size() && level.keys[order[i + 1]] == name) continue;
            if (made.size() > 1) made += ", ";
            append_string(made, name);
            made += ": " + level.values[order[i]];
            if (open_.empty()) kept.emplace_back(name, level.values[order[i]]);
        }
        if (open_.empty()) {
            members = std::move(kept);
        }
        return value(made + "}");
    }

    bool start_array(std::size_t) override { return open(false); }

    bool end_array() override {
        Level level = std::move(open_.back());
        open_.pop_back();
        std::string made = "[";
        for (const std::string& element : level.values) {
            if (made.size() > 1) made += ", ";
            made += element;
        }
        return value(made + "]");
    }

    bool parse_error(std::size_t, const std::string&, const Json::exception&) override {
        return false;
    }

 private:
    struct Level {
        std::vector<std::string> keys;
        std::vector<std::string> values;
    };

    bool open(bool) {
        open_.emplace_back();
        return true;
    }

    bool value(std::string made) {
        if (open_.empty()) {
            text = std::move(made);
        } else {
            open_.back().values.push_back(std::move(made));
        }
        return true;
    }

    std::vector<Level> open_;
};

}  // namespace

std::optional<std::string> jsonb_text(std::string_view json) {
    TextBuilder builder;
    if (!Json::sax_parse(json, &builder) || builder.is_too_long) return std::nullopt;
    return std::move(builder.text);
}

JsonMember json_member(std::string_view json, std::string_view key) {
    TextBuilder builder;
    if (!Json::sax_parse(json, &builder)) return {};
    if (builder.is_too_long) return {.is_too_long = true, .text = {}};
    for (auto& [name, text] : builder.members) {
        if (name != key) continue;
        if (text == "null") return {};
        if (!text.starts_with('"')) return {.is_null = false, .text = std::move(text)};
        return {.is_null = false, .text = Json::parse(text).get<std::string>()};
    }
    return {};
}

}  // namespace ebb::predicate
