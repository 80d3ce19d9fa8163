#include "cli/known_key.h"

namespace ebb::cli {

std::string known_key_difference(const StartedInstance& started) {
    std::string text;
    if (!started.has_same_input) text = " It was started with another input, which it keeps.";
    if (!started.has_same_version) text += " It keeps another version of the workflow.";
    return text;
}

}  // namespace ebb::cli
