#pragma once

#include <memory>
#include <string_view>

#include "core/kernel/program.h"

namespace ebb {

/// Compiles the JSON form of a definition that is stored (model::Origin::Stored).
std::shared_ptr<const Program> compile_stored(std::string_view json);

/// The same of one that was already read.
std::shared_ptr<const Program> compile_stored(const Definition& definition);

}  // namespace ebb
