#pragma once

#include <string>

#include <ebb/json.h>
#include <ebb/store.h>

// Surfaces in SQL of registered workflows with rules: a schema with a table of the instances.

namespace ebb {

struct SurfaceOptions {
    std::string workflow{};
    std::string dialect = "ebb";  ///< or `wed`
    std::string role{};           ///< that gets rights; empty = none
};

/// Makes the surface, or brings it up to date: all of it or nothing. Returns a JSON object with
/// `flow`, `version`, `instances`, `is_new`, `dialect` and `role`. Throws Error: InvalidState if
/// the database has no functions for rules in SQL, StoreDenied if the user may not do it, NotFound
/// or InvalidArgument with a precise sentence for what cannot have a surface. Component
/// ebb::postgres.
Payload install_surface(const PostgresOptions& options, const SurfaceOptions& surface);

/// Removes it, but for the table of the instances. Returns a JSON object with `flow`, `version`,
/// `rows` and `live`. Component ebb::postgres.
Payload uninstall_surface(const PostgresOptions& options, const std::string& workflow);

}  // namespace ebb
