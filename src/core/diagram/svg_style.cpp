#include "core/diagram/svg_style.h"

#include <fmt/format.h>

#include "core/diagram/mark_style.h"

namespace ebb::diagram {
namespace {

constexpr std::string_view kLight = R"(.ebb-diagram .paper{fill:#ffffff}
.ebb-diagram text{fill:#0f172a}
.ebb-diagram .soft{fill:#64748b}
.ebb-diagram .frame{fill:#f1f5f9;fill-opacity:.7;stroke:#cbd5e1}
.ebb-diagram .edge{stroke:#64748b}
.ebb-diagram .tip{fill:#64748b}
.ebb-diagram .edge.back{stroke:#7c3aed}
.ebb-diagram .tip.back{fill:#7c3aed}
.ebb-diagram .edge.off{stroke:#a3b1c4}
.ebb-diagram .tip.off{fill:#a3b1c4}
.ebb-diagram .tag{fill:#ffffff;stroke:#cbd5e1}
.ebb-diagram .tag+text{fill:#334155}
.ebb-diagram .bar,.ebb-diagram .dot{fill:#475569}
.ebb-diagram .line{stroke:#0d9488}
.ebb-diagram .undo{stroke:#c2410c}
.ebb-diagram text.undone{fill:#9a3412}
)";

constexpr std::string_view kDark = R"(.ebb-diagram .paper{fill:#0f172a}
.ebb-diagram text{fill:#e2e8f0}
.ebb-diagram .soft{fill:#94a3b8}
.ebb-diagram .frame{fill:#1e293b;fill-opacity:.55;stroke:#334155}
.ebb-diagram .edge{stroke:#94a3b8}
.ebb-diagram .tip{fill:#94a3b8}
.ebb-diagram .edge.back{stroke:#a78bfa}
.ebb-diagram .tip.back{fill:#a78bfa}
.ebb-diagram .edge.off{stroke:#5b6b82}
.ebb-diagram .tip.off{fill:#5b6b82}
.ebb-diagram .tag{fill:#0f172a;stroke:#475569}
.ebb-diagram .tag+text{fill:#cbd5e1}
.ebb-diagram .bar,.ebb-diagram .dot{fill:#94a3b8}
.ebb-diagram .line{stroke:#2dd4bf}
.ebb-diagram .undo{stroke:#fb923c}
.ebb-diagram text.undone{fill:#fdba74}
)";

constexpr std::string_view kForms =
    R"(.ebb-diagram text{font:11px system-ui,"Segoe UI","DejaVu Sans",Helvetica,sans-serif}
.ebb-diagram .name{font-size:13px;font-weight:600}
.ebb-diagram .title{font-size:15px;font-weight:700}
.ebb-diagram .mid{text-anchor:middle}
.ebb-diagram .edge,.ebb-diagram .icon,.ebb-diagram .line,.ebb-diagram .undo{fill:none}
.ebb-diagram .shape,.ebb-diagram .edge{stroke-width:1.5}
.ebb-diagram .icon{stroke-width:1.6;stroke-linecap:round;stroke-linejoin:round}
.ebb-diagram .edge.back{stroke-width:1.8}
.ebb-diagram .line{stroke-width:1.5;stroke-dasharray:7 5}
.ebb-diagram .undo{stroke-dasharray:4 3}
.ebb-diagram .undo.icon{stroke-dasharray:none;stroke-width:1.4}
.ebb-diagram .savepoint .shape,.ebb-diagram .skipped .shape{stroke-dasharray:4 3}
.ebb-diagram .edge.off{stroke-dasharray:4 3}
.ebb-diagram g.off{opacity:.45}
)";

struct KindColors {
    std::string_view name;
    MarkColors light;
    MarkColors dark;
};

constexpr std::array<KindColors, 5> kKinds{{
    {"work", {"#eff6ff", "#3b82f6", "#1e3a8a"}, {"#172554", "#60a5fa", "#dbeafe"}},
    {"control", {"#ffffff", "#64748b", "#1e293b"}, {"#1e293b", "#94a3b8", "#e2e8f0"}},
    {"point", {"#e2e8f0", "#94a3b8", "#334155"}, {"#334155", "#64748b", "#e2e8f0"}},
    {"savepoint", {"#f0fdfa", "#0d9488", "#115e59"}, {"#042f2e", "#2dd4bf", "#ccfbf1"}},
    {"stop", {"#fef2f2", "#dc2626", "#991b1b"}, {"#450a0a", "#f87171", "#fecaca"}},
}};

std::string rule(std::string_view name, const MarkColors& colors) {
    return fmt::format(
        ".ebb-diagram .{0} .shape{{fill:{1};stroke:{2}}}\n"
        ".ebb-diagram .{0} text{{fill:{3}}}\n"
        ".ebb-diagram .{0} .icon{{stroke:{3}}}\n",
        name,
        colors.fill,
        colors.stroke,
        colors.text
    );
}

std::string scheme(const Graph& graph, bool dark) {
    std::string css(dark ? kDark : kLight);
    for (const KindColors& kind : kKinds) css += rule(kind.name, dark ? kind.dark : kind.light);
    for (const StepMark::State state : states_of(graph)) {
        const MarkStyle& style = style_of(state);
        css += rule(fmt::format("{}", to_string(style.state)), dark ? style.dark : style.light);
    }
    for (const Note::Kind kind : note_kinds_of(graph)) {
        const NoteStyle& style = style_of(kind);
        css += rule(style.name, dark ? style.dark : style.light);
    }
    return css;
}

}  // namespace

std::string style_sheet(const Graph& graph) {
    std::string forms(kForms);
    for (const Note::Kind kind : note_kinds_of(graph)) {
        if (!style_of(kind).is_dashed) continue;
        forms +=
            fmt::format(".ebb-diagram .{} .shape{{stroke-dasharray:5 3}}\n", style_of(kind).name);
    }
    return fmt::format(
        "{}{}@media (prefers-color-scheme:dark){{\n{}}}\n",
        forms,
        scheme(graph, false),
        scheme(graph, true)
    );
}

std::string color_class(const GraphNode& node) {
    if (node.note) return std::string(style_of(node.note->kind).name);
    if (node.mark) {
        const std::string_view name = to_string(shown_state(*node.mark));
        return std::string(name) + (node.is_off ? " off" : "");
    }
    if (node.shape == Shape::Step) return "work";
    if (node.shape == Shape::Savepoint) return "savepoint";
    if (node.shape == Shape::Fail) return "stop";
    return kind_word(node.shape).empty() ? "point" : "control";
}

std::string_view kind_icon(Shape shape) {
    switch (shape) {
        case Shape::Condition:
            return "M-6,0H-2L5,-5M-2,0L5,5M1.5,-5H5V-1.8M1.5,5H5V1.8";
        case Shape::Switch:
            return "M-6,0H6M-3,0L5,-5.5M-3,0L5,5.5";
        case Shape::Fork:
            return "M-3,-5V5M3,-5V5";
        case Shape::Loop:
            return "M4.8,-2.4A5.4,5.4 0 1 0 5.4,0.6M5.2,-6V-2.2H1.4";
        case Shape::Delay:
            return "M6,0A6,6 0 1 1 -6,0A6,6 0 1 1 6,0M0,-3.4V0L2.6,1.8";
        case Shape::Decision:
            return "M2.8,-3.4A2.8,2.8 0 1 1 -2.8,-3.4A2.8,2.8 0 1 1 2.8,-3.4M-5.6,6.4C-5.6,0.6 "
                   "5.6,0.6 5.6,6.4";
        case Shape::Signal:
            return "M-6.5,-4.5H6.5V4.5H-6.5ZM-6.5,-4L0,1.2L6.5,-4";
        case Shape::Savepoint:
            return "M-4,6.5V-6H5L2.6,-2.9L5,0.2H-4";
        case Shape::Fail:
            return "M-4.2,-4.2L4.2,4.2M4.2,-4.2L-4.2,4.2";
        case Shape::Graph:
            return "M-5.5,-4.5H-1.5V-0.5H-5.5ZM1.5,1.5H5.5V5.5H1.5ZM-1.5,-2.5H3.5V1.5";
        default:
            return {};
    }
}

std::string_view state_icon(StepMark::State state) {
    switch (state) {
        case StepMark::State::Pending:
            return "M4.2,0A4.2,4.2 0 1 1 -4.2,0A4.2,4.2 0 1 1 4.2,0";
        case StepMark::State::Running:
            return "M-3,-4.6L4.6,0L-3,4.6Z";
        case StepMark::State::Retrying:
            return "M4,-2.2A4.7,4.7 0 1 0 4.7,0.6M4.4,-5.2V-2H1.2";
        case StepMark::State::Waiting:
            return "M-3.6,-5.2H3.6M-3.6,5.2H3.6M-3,-5.2C-3,-1 3,1 3,5.2M3,-5.2C3,-1 -3,1 -3,5.2";
        case StepMark::State::Completed:
            return "M-4.6,0.4L-1.5,3.6L4.6,-3.6";
        case StepMark::State::Failed:
            return "M-3.8,-3.8L3.8,3.8M3.8,-3.8L-3.8,3.8";
        case StepMark::State::Skipped:
            return "M4.6,0A4.6,4.6 0 1 1 -4.6,0A4.6,4.6 0 1 1 4.6,0M-3.2,3.2L3.2,-3.2";
        case StepMark::State::Compensating:
            return "M-1.8,-5L-5,-1.8L-1.8,1.4M-5,-1.8H1.4A3.1,3.1 0 0 1 1.4,4.4H-1";
        case StepMark::State::Compensated:
            return "M-2.4,-5.4L-5,-2.8L-2.4,-0.2M-5,-2.8H2A2.4,2.4 0 0 1 2,2H0M-5,5.2H5";
        case StepMark::State::CompensationFailed:
            return "M0,-5.2L5.6,4.6H-5.6ZM0,-1.8V1.2M0,2.9V3";
    }
    return {};
}

}  // namespace ebb::diagram
