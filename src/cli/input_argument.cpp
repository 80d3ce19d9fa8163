#include "cli/input_argument.h"

#include <ebb/error.h>

#include "cli/payload_argument.h"
#include "core/model/samples.h"
#include "yaml/yaml_document.h"

namespace ebb::cli {

Payload read_input(std::string_view argument, std::string_view definition, CliStreams& streams) {
    constexpr std::string_view kSample = "sample:";
    if (!argument.starts_with(kSample)) return read_payload(argument, "--input", streams);
    const std::string_view wanted = argument.substr(kSample.size());
    if (definition.empty()) {
        throw Error(
            ErrorCode::InvalidArgument,
            "--input sample:NAME names a sample of a workflow's file, but no file is given."
        );
    }
    return model::sample_input(yaml::parse_yaml_document(definition, ""), wanted);
}

}  // namespace ebb::cli
