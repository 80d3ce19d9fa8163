#include "cli/input_argument.h"

#include <vector>

#include <fmt/format.h>

#include <ebb/error.h>

#include "cli/payload_argument.h"
#include "core/model/samples.h"
#include "core/model/words.h"
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
    std::vector<model::Sample> samples =
        model::samples_of(yaml::parse_yaml_document(definition, ""));
    std::vector<std::string_view> names;
    for (model::Sample& sample : samples) {
        if (sample.name == wanted) return std::move(sample.input);
        names.push_back(sample.name);
    }
    throw Error(
        ErrorCode::InvalidArgument,
        names.empty() ? std::string("The workflow's file has no `samples`.")
                      : fmt::format(
                            "The workflow's file has no sample {}.{}",
                            model::in_quotes(wanted),
                            model::hint(wanted, names)
                        )
    );
}

}  // namespace ebb::cli
