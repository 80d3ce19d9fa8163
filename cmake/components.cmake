# What a build consists of. A project that adds Ebb as a subproject gets the core alone, and asks for what it uses: what
# is off needs no package.
include(CMakeDependentOption)

option(EBB_WITH_SQLITE "ebb::sqlite: state in SQLite (needs SQLite 3)" ${PROJECT_IS_TOP_LEVEL})
option(EBB_WITH_POSTGRES "ebb::postgres: state in PostgreSQL (needs libpq)" ${PROJECT_IS_TOP_LEVEL})
option(EBB_WITH_YAML "ebb::yaml: workflow definitions in YAML (needs libfyaml)" ${PROJECT_IS_TOP_LEVEL})
option(EBB_WITH_HANDLERS "ebb::handlers: programs and HTTP services as steps (needs libcurl)" ${PROJECT_IS_TOP_LEVEL})
option(EBB_WITH_DIAGRAM "ebb::diagram: pictures of workflows and instances" ${PROJECT_IS_TOP_LEVEL})
option(EBB_WITH_METRICS "ebb::metrics: numbers for Prometheus (needs prometheus-cpp)" ${PROJECT_IS_TOP_LEVEL})
cmake_dependent_option(EBB_WITH_TELEMETRY "ebb::telemetry: traces for OpenTelemetry (needs handlers)" ${PROJECT_IS_TOP_LEVEL}
  EBB_WITH_HANDLERS OFF)
option(EBB_WITH_TESTING "ebb::testing: tests of workflows in virtual time" ${PROJECT_IS_TOP_LEVEL})
cmake_dependent_option(EBB_WITH_CLI "The command `ebb` (needs these four components and CLI11)" ${PROJECT_IS_TOP_LEVEL}
  "EBB_WITH_SQLITE;EBB_WITH_YAML;EBB_WITH_HANDLERS;EBB_WITH_DIAGRAM" OFF)
cmake_dependent_option(EBB_WITH_LSP "`ebb lsp`, the language server" ${PROJECT_IS_TOP_LEVEL} EBB_WITH_CLI OFF)
cmake_dependent_option(EBB_WITH_SERVER
  "`ebb serve` (needs Boost 1.81 or later, OpenSSL, zlib and python3-yaml)" ${PROJECT_IS_TOP_LEVEL} EBB_WITH_CLI OFF)
cmake_dependent_option(EBB_WITH_OIDC "Logins to `ebb serve` by OpenID Connect (needs libcjose)" ${PROJECT_IS_TOP_LEVEL}
  EBB_WITH_SERVER OFF)

foreach(component IN ITEMS SQLITE POSTGRES YAML HANDLERS DIAGRAM METRICS TELEMETRY TESTING CLI LSP)
  if(EBB_DEVELOPER_MODE AND NOT EBB_WITH_${component})
    message(FATAL_ERROR "The tests need all of Ebb, but EBB_WITH_${component} is OFF. Configure with "
      "-DEBB_DEVELOPER_MODE=OFF, or with the preset \"install\", to build a part of it.")
  endif()
endforeach()
