#include "lsp/document.h"

#include <algorithm>
#include <utility>

#include <nlohmann/json.hpp>

namespace ebb::lsp {

namespace {

std::optional<Position> read_position(const Json& json) {
    if (!json.is_object()) return std::nullopt;
    const auto line = json.find("line");
    const auto character = json.find("character");
    const bool is_position = line != json.end() && line->is_number_unsigned() &&
                             character != json.end() && character->is_number_unsigned();
    if (!is_position) return std::nullopt;
    return Position{.line = line->get<std::size_t>(), .character = character->get<std::size_t>()};
}

}  // namespace

Document::Document(std::string uri, std::string text, Encoding encoding)
    : uri_(std::move(uri)),
      text_(std::move(text)),
      encoding_(encoding),
      is_cpp_(source::is_cpp_name(uri_)) {}

const source::CppFile& Document::cpp() const {
    if (!cpp_) {
        cpp_ = std::make_unique<source::CppFile>();
        if (is_cpp_) *cpp_ = source::scan_cpp(text_);
    }
    return *cpp_;
}

source::TextKind Document::kind() const {
    if (is_cpp_ || text_.size() > DocumentLimits::kBytesMax) return source::TextKind::Other;
    if (!kind_) kind_ = source::kind_of(uri_, tree());
    return *kind_;
}

const LineIndex& Document::lines() const {
    if (!lines_) lines_ = std::make_unique<LineIndex>(text_, encoding_);
    return *lines_;
}

const yaml::LineTree& Document::tree() const {
    if (!tree_) tree_ = std::make_unique<yaml::LineTree>(text_);
    return *tree_;
}

const source::CheckedText& Document::checked(const CheckSettings& settings) const {
    if (!checked_ && is_cpp_) {
        checked_ = std::make_unique<source::CheckedText>(
            source::CheckedText{.kind = source::TextKind::Other}
        );
        for (const source::CppWorkflow& workflow : cpp().workflows) {
            for (Diagnostic& problem : source::check_cpp(workflow, text_, uri_)) {
                checked_->problems.push_back(std::move(problem));
            }
        }
    }
    if (!checked_) {
        const source::CheckOptions options{
            .file = uri_, .types = settings.types, .with_lints = true
        };
        checked_ = std::make_unique<source::CheckedText>(
            kind() == source::TextKind::Types ? source::check_types_text(text_, options)
                                              : source::check_workflow(text_, options)
        );
    }
    return *checked_;
}

bool Document::apply(const Json& change) {
    if (!change.is_object() || !change.contains("text") || !change["text"].is_string()) {
        return false;
    }
    const auto& text = change["text"].get_ref<const std::string&>();
    if (!change.contains("range") || change["range"].is_null()) {
        text_ = text;
    } else {
        const Json& range = change["range"];
        if (!range.is_object() || !range.contains("start") || !range.contains("end")) return false;
        const auto start = read_position(range["start"]);
        const auto end = read_position(range["end"]);
        if (!start || !end) return false;
        const std::size_t from = lines().offset(*start);
        const std::size_t to = std::max(from, lines().offset(*end));
        text_.replace(from, to - from, text);
    }
    forget();
    return true;
}

void Document::forget() {
    lines_.reset();
    tree_.reset();
    checked_.reset();
    cpp_.reset();
    kind_.reset();
    is_dirty = true;
    is_index_old = true;
    is_picture_old = is_picture_old || is_drawn;
    is_drawn = false;
}

}  // namespace ebb::lsp
