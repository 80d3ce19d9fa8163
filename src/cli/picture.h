#pragma once

#include <string>

#include <ebb/diagram.h>

#include "cli/session.h"
#include "core/diagram/notes.h"

namespace ebb::cli {

/// The format of a picture: `given`, or else what the ending of `output` says (empty = text).
/// `command` is named in the error.
std::string picture_format(
    const std::string& command, const std::string& given, const std::string& output
);

struct PictureParts {
    const Definition& definition;
    DiagramOptions options{};
    diagram::Notes notes{};
};

/// `is_shown`: it goes to the terminal, if there is one.
std::string draw_picture(
    const Session& session, const PictureParts& picture, const std::string& format, bool is_shown
);

}  // namespace ebb::cli
