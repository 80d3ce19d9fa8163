#include "store/stored_definition.h"

#include <utility>

#include <fmt/format.h>

#include "core/kernel/stored_program.h"
#include "core/model/reader.h"

namespace ebb {

namespace {

std::string cause_of(const std::exception& error) {
    const auto* invalid = dynamic_cast<const DefinitionError*>(&error);
    if (invalid == nullptr || invalid->diagnostics().empty()) return error.what();
    const Diagnostic& first = invalid->diagnostics().front();
    const std::size_t more = invalid->diagnostics().size() - 1;
    return fmt::format(
        "{}: {}{}",
        first.path.empty() ? "/" : first.path,
        first.message,
        more == 0 ? "" : fmt::format(" (and {} more)", more)
    );
}

/// Reading asks nothing outside of this process: whatever it throws is a fault of the row.
template <typename Read>
auto read(const WorkflowRow& row, Read reading) {
    try {
        return reading(row.definition);
    } catch (const std::exception& error) {
        throw UnreadableDefinition(row, cause_of(error));
    }
}

}  // namespace

UnreadableDefinition::UnreadableDefinition(const WorkflowRow& row, std::string cause)
    : Error(
          ErrorCode::CorruptState,
          fmt::format(
              "This version of Ebb cannot read the stored definition of {} version {}: {}",
              row.name,
              row.version,
              cause
          )
      ),
      cause_(std::move(cause)) {}

Definition stored_definition(const WorkflowRow& row) {
    return read(row, [](const std::string& text) { return model::read_stored(text); });
}

std::shared_ptr<const Program> stored_program(const WorkflowRow& row) {
    return read(row, [](const std::string& text) { return compile_stored(text); });
}

}  // namespace ebb
