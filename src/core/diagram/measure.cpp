#include <algorithm>
#include <cmath>

#include "core/diagram/layout.h"
#include "core/diagram/mark_style.h"

namespace ebb::diagram {
namespace {

constexpr double kNameWidthMax = 250;
constexpr double kTextWidthMax = 300;
constexpr double kBodyWidthMin = 96;
constexpr double kDot = 10;

/// Even, so that the middle of a box lies on a whole pixel.
double even(double width) {
    return 2 * std::ceil(width / 2);
}

double side_padding(Shape shape) {
    switch (shape) {
        case Shape::Condition:
        case Shape::Switch:
        case Shape::Loop:
            return 24;  // the slants of the hexagon
        case Shape::Delay:
        case Shape::Fail:
            return 18;
        default:
            return 14;
    }
}

NodeTexts fit_texts(const GraphNode& node) {
    NodeTexts texts;
    texts.label = fit_text(node.label, kLabelFont, kNameWidthMax);
    texts.label.width *= 1.06;  // it is bold
    texts.sublabel = fit_text(node.sublabel, kSmallFont, kTextWidthMax);
    texts.compensation = fit_text(node.compensation, kSmallFont, kTextWidthMax);
    if (node.mark && node.mark->state != StepMark::State::Pending)
        texts.status = fit_text(mark_words(*node.mark), kSmallFont, kTextWidthMax);
    if (node.note) texts.status = fit_text(note_words(*node.note), kSmallFont, kTextWidthMax);
    return texts;
}

double text_extent(const FittedText& text, bool icon) {
    return text.text.empty() ? 0 : text.width + (icon ? kIconSpace : 0);
}

}  // namespace

bool has_icon(Shape shape) {
    return !kind_word(shape).empty() && shape != Shape::Step;
}

NodeView measure_node(const GraphNode& node) {
    NodeView view;
    if (node.shape == Shape::Merge || node.shape == Shape::Repeat) {
        view.body = {0, 0, kDot, kDot};
        return view;
    }
    view.texts = fit_texts(node);
    const NodeTexts& texts = view.texts;
    const double width = std::max(
        {text_extent(texts.label, has_icon(node.shape)),
         text_extent(texts.sublabel, false),
         text_extent(texts.status, true),
         text_extent(texts.compensation, true)}
    );
    const bool small = kind_word(node.shape).empty();
    view.body.width =
        std::max(even(width + 2 * side_padding(node.shape)), small ? 44 : kBodyWidthMin);
    view.body.height = kLabelLine + (small ? 4 : 2 * kPadding);
    if (!texts.sublabel.text.empty()) view.body.height += kSmallLine;
    if (!texts.status.text.empty()) view.body.height += kSmallLine + 1;
    if (!texts.compensation.text.empty()) view.body.height += kUndoStrip;
    view.body.height = even(view.body.height);
    return view;
}

}  // namespace ebb::diagram
