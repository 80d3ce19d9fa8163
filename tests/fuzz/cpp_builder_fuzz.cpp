// Any bytes as C++ code: the scan ends, and what it finds lies in the text and can be drawn.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/diagram/notes.h"
#include "source/cpp_workflow.h"

namespace {

void require(bool condition) {
    if (!condition) __builtin_trap();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace ebb;
    constexpr std::size_t kBytesMax = 20'000;
    const std::string_view text(reinterpret_cast<const char*>(data), std::min(size, kBytesMax));
    const source::CppFile file = source::scan_cpp(text);
    for (const source::CppWorkflow& workflow : file.workflows) {
        for (const source::CppHandler& call : source::called_handlers(workflow)) {
            require(call.place.begin <= call.place.end && call.place.end <= text.size());
        }
        require(workflow.place.begin <= workflow.place.end && workflow.place.end <= text.size());
        for (const auto& [path, place] : workflow.places) {
            require(place.begin <= place.end && place.end <= text.size());
        }
        for (const Diagnostic& problem : source::check_cpp(workflow, text, "fuzz.cpp")) {
            require(problem.line > 0 && problem.column > 0);
        }
        require(!diagram::to_text(workflow.definition, {}, {}, source::notes_of(workflow)).empty());
    }
    for (const source::CppHandler& handler : file.handlers) {
        require(handler.place.begin < handler.place.end && handler.place.end <= text.size());
    }
    return 0;
}
