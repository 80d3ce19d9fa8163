#include "unit/diagram/xml.h"

#include <stdexcept>

namespace ebb::diagram_test {
namespace {

class Parser {
 public:
    explicit Parser(std::string_view text) : text_(text) {}

    XmlElement document() {
        check_characters();
        XmlElement root = element();
        skip_space();
        if (at_ != text_.size()) fail("something follows the root element");
        return root;
    }

 private:
    [[noreturn]] void fail(const std::string& what) const {
        throw std::runtime_error(
            what + " at byte " + std::to_string(at_) + ": " + std::string(text_.substr(at_, 40))
        );
    }

    /// Well-formed UTF-8 without the characters that XML 1.0 forbids.
    void check_characters() {
        for (at_ = 0; at_ < text_.size();) {
            const auto lead = static_cast<unsigned char>(text_[at_]);
            const std::size_t length = lead < 0x80 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
            if (lead < 0x20 && lead != '\n' && lead != '\t') fail("a control character");
            if (lead == 0x7F || (lead >= 0x80 && lead < 0xC2) || lead > 0xF4) fail("not UTF-8");
            for (std::size_t i = 1; i < length; ++i)
                if (at_ + i >= text_.size() || (text_[at_ + i] & 0xC0) != 0x80) fail("not UTF-8");
            const std::string_view c = text_.substr(at_, length);
            if (c == "\xEF\xBF\xBE" || c == "\xEF\xBF\xBF") fail("a non-character");
            if (lead == 0xED && static_cast<unsigned char>(c[1]) >= 0xA0) fail("a surrogate");
            at_ += length;
        }
        at_ = 0;
    }

    bool next_is(std::string_view token) const { return text_.substr(at_).starts_with(token); }

    void expect(std::string_view token) {
        if (!next_is(token)) fail("expected " + std::string(token));
        at_ += token.size();
    }

    void skip_space() {
        while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n')) ++at_;
    }

    std::string name() {
        const std::size_t start = at_;
        while (at_ < text_.size() &&
               (std::isalnum(static_cast<unsigned char>(text_[at_])) != 0 || text_[at_] == '-'))
            ++at_;
        if (at_ == start) fail("expected a name");
        return std::string(text_.substr(start, at_ - start));
    }

    /// Text up to `end`, which is not taken.
    std::string text_until(char end) {
        static const std::map<std::string, char> kEntities{
            {"&amp;", '&'}, {"&lt;", '<'}, {"&gt;", '>'}, {"&quot;", '"'}, {"&apos;", '\''}
        };
        std::string out;
        while (at_ < text_.size() && text_[at_] != end) {
            if (text_[at_] == '<') fail("a bare <");
            if (next_is("]]>")) fail("a bare ]]>");
            if (text_[at_] != '&') {
                out += text_[at_++];
                continue;
            }
            const std::size_t stop = text_.find(';', at_);
            const auto entity = kEntities.find(std::string(text_.substr(at_, stop - at_ + 1)));
            if (stop == std::string_view::npos || entity == kEntities.end()) fail("a bare &");
            out += entity->second;
            at_ = stop + 1;
        }
        if (at_ == text_.size()) fail("the document ends too early");
        return out;
    }

    void attribute(XmlElement& element) {
        const std::string key = name();
        expect("=\"");
        if (!element.attributes.emplace(key, text_until('"')).second) fail("a repeated attribute");
        expect("\"");
    }

    XmlElement element() {
        XmlElement element;
        expect("<");
        element.name = name();
        while (next_is(" ")) {
            skip_space();
            attribute(element);
        }
        if (next_is("/>")) {
            expect("/>");
            return element;
        }
        expect(">");
        content(element);
        expect("</" + element.name + ">");
        return element;
    }

    void content(XmlElement& parent) {
        while (!next_is("</")) {
            if (next_is("<")) {
                parent.children.push_back(element());
            } else {
                parent.text += text_until('<');
            }
        }
    }

    std::string_view text_;
    std::size_t at_ = 0;
};

}  // namespace

XmlElement parse_xml(std::string_view document) {
    return Parser(document).document();
}

std::vector<const XmlElement*> find_all(const XmlElement& root, std::string_view name) {
    std::vector<const XmlElement*> found;
    for (const XmlElement& child : root.children) {
        if (child.name == name) found.push_back(&child);
        const std::vector<const XmlElement*> inner = find_all(child, name);
        found.insert(found.end(), inner.begin(), inner.end());
    }
    return found;
}

}  // namespace ebb::diagram_test
