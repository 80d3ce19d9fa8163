#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

// A strict little XML parser for judging the SVG: it knows elements, attributes, text and the five
// entities, and throws std::runtime_error at whatever else it meets.

namespace ebb::diagram_test {

struct XmlElement {
    std::string name;
    std::map<std::string, std::string> attributes;
    std::string text;  ///< of this element alone
    std::vector<XmlElement> children;
};

XmlElement parse_xml(std::string_view document);

/// All elements under `root` that are called `name`, in document order.
std::vector<const XmlElement*> find_all(const XmlElement& root, std::string_view name);

}  // namespace ebb::diagram_test
