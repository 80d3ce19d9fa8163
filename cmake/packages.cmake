# Debian packages, by `./dev package`: the command, the shared libraries, and what a developer needs.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME ebb)
set(CPACK_PACKAGE_VENDOR "The Ebb authors")
set(CPACK_PACKAGE_CONTACT "The Ebb authors <ebb@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_ALL command runtime development)
set(CPACK_COMPONENTS_GROUPING IGNORE)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${PROJECT_BINARY_DIR} ${PROJECT_BINARY_DIR}/src)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)

set(library libebb${PROJECT_VERSION_MAJOR})
set(CPACK_DEBIAN_COMMAND_PACKAGE_NAME ebb)
set(CPACK_DEBIAN_COMMAND_PACKAGE_SECTION utils)
set(CPACK_DEBIAN_COMMAND_DESCRIPTION "durable workflows and sagas: the command
 Runs workflows step by step, keeps their state in SQLite or PostgreSQL, and compensates what was done when a step fails.")
set(CPACK_DEBIAN_COMMAND_PACKAGE_DEPENDS "${library} (= ${PROJECT_VERSION})")

set(CPACK_DEBIAN_RUNTIME_PACKAGE_NAME ${library})
set(CPACK_DEBIAN_RUNTIME_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_RUNTIME_DESCRIPTION "durable workflows and sagas: the shared libraries
 The engine, its stores for SQLite and PostgreSQL, and what reads YAML and calls programs and services.")

set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME libebb-dev)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEVELOPMENT_DESCRIPTION "durable workflows and sagas: headers, CMake and pkg-config files, documentation
 With it, find_package(ebb) and pkg-config find Ebb.")
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS
  "${library} (= ${PROJECT_VERSION}), nlohmann-json3-dev (>= 3.11), cmake (>= 3.25) | pkgconf")
include(CPack)
