# What `cmake --install` lays down: the libraries in the global property EBB_INSTALL_TARGETS, the public headers,
# find_package(ebb COMPONENTS ...) and one pkg-config file per component.
include(CMakePackageConfigHelpers)

get_property(targets GLOBAL PROPERTY EBB_INSTALL_TARGETS)
if(NOT targets)
  return()
endif()

file(GLOB headers CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/include/ebb/*.h)
target_sources(ebb PUBLIC FILE_SET HEADERS BASE_DIRS ${PROJECT_SOURCE_DIR}/include FILES ${headers})
# The target ebb_verify_interface_header_sets compiles every public header on its own.
set_target_properties(ebb PROPERTIES VERIFY_INTERFACE_HEADER_SETS ${EBB_DEVELOPER_MODE})

set(config_dir ${CMAKE_INSTALL_LIBDIR}/cmake/ebb)
install(TARGETS ${targets} EXPORT ebbTargets
  LIBRARY COMPONENT runtime NAMELINK_COMPONENT development
  ARCHIVE COMPONENT development
  FILE_SET HEADERS COMPONENT development
  INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(EXPORT ebbTargets NAMESPACE ebb:: DESTINATION ${config_dir} COMPONENT development)

set(EBB_COMPONENTS)
foreach(target IN LISTS targets)
  get_target_property(component ${target} EXPORT_NAME)
  list(APPEND EBB_COMPONENTS ${component})
endforeach()
configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/ebbConfig.cmake.in ${PROJECT_BINARY_DIR}/ebbConfig.cmake
  INSTALL_DESTINATION ${config_dir} NO_SET_AND_CHECK_MACRO)
# Until 1.0 every minor version may change the API.
write_basic_package_version_file(${PROJECT_BINARY_DIR}/ebbConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/ebbConfig.cmake ${PROJECT_BINARY_DIR}/ebbConfigVersion.cmake
  DESTINATION ${config_dir} COMPONENT development)
install(FILES ${PROJECT_SOURCE_DIR}/cmake/export_definitions.cmake ${PROJECT_SOURCE_DIR}/cmake/export_definitions.cpp.in
  DESTINATION ${config_dir} COMPONENT development)
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE ${PROJECT_SOURCE_DIR}/NOTICE DESTINATION ${CMAKE_INSTALL_DOCDIR}
  COMPONENT development)
# The docs, with links that lead to what is installed; see there.
file(RELATIVE_PATH to_include ${CMAKE_INSTALL_FULL_DOCDIR} ${CMAKE_INSTALL_FULL_INCLUDEDIR})
file(RELATIVE_PATH to_data ${CMAKE_INSTALL_FULL_DOCDIR} ${CMAKE_INSTALL_FULL_DATADIR})
set(pages ${PROJECT_BINARY_DIR}/installed_docs)
install(CODE "execute_process(COMMAND \"${CMAKE_COMMAND}\" \"-DSOURCE=${PROJECT_SOURCE_DIR}\" \"-DOUTPUT=${pages}\"
  -DTO_INCLUDE=${to_include} -DTO_DATA=${to_data} -P \"${PROJECT_SOURCE_DIR}/cmake/install_docs.cmake\"
  COMMAND_ERROR_IS_FATAL ANY)" COMPONENT development)
install(DIRECTORY ${pages}/ DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT development)
file(GLOB pictures CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/docs/images/*.png)
install(FILES ${pictures} ${PROJECT_SOURCE_DIR}/tests/golden/diagrams/order_rolled_back.svg
  ${PROJECT_SOURCE_DIR}/tests/golden/diagrams/order_running.svg
  DESTINATION ${CMAKE_INSTALL_DOCDIR}/docs/images COMPONENT development)
# What the docs use: workflows and programs to copy, units for systemd, alerts, a dashboard.
install(DIRECTORY ${PROJECT_SOURCE_DIR}/examples ${PROJECT_SOURCE_DIR}/contrib DESTINATION ${CMAKE_INSTALL_DOCDIR}
  COMPONENT development PATTERN CMakeLists.txt EXCLUDE PATTERN demo.sh EXCLUDE PATTERN "*.sh" PERMISSIONS
  OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
# For editors: the schemas of workflows, types and snapshots. For clients: the document of the API.
file(GLOB schemas CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/schema/*.schema.json)
if(TARGET ebb_server)
  list(APPEND schemas ${PROJECT_BINARY_DIR}/openapi.json)
endif()
install(FILES ${schemas} DESTINATION ${CMAKE_INSTALL_DATADIR}/ebb/schema COMPONENT development)

# The command's manual page and completions are what the command itself prints.
find_package(Python3 3.9 QUIET COMPONENTS Interpreter)
if(TARGET ebb_command AND NOT CMAKE_CROSSCOMPILING)
  set(generated ${PROJECT_BINARY_DIR}/command)
  set(outputs)
  foreach(shell IN ITEMS bash zsh fish)
    add_custom_command(OUTPUT ${generated}/completion.${shell} COMMAND ${CMAKE_COMMAND} -E make_directory ${generated}
      COMMAND ebb_command completion ${shell} > ${generated}/completion.${shell} VERBATIM)
    list(APPEND outputs ${generated}/completion.${shell})
  endforeach()
  if(Python3_FOUND)
    set(man_page ${PROJECT_SOURCE_DIR}/cmake/man_page.py)
    add_custom_command(OUTPUT ${generated}/ebb.1 DEPENDS ${man_page}
      COMMAND Python3::Interpreter -B ${man_page} $<TARGET_FILE:ebb_command> ${PROJECT_VERSION} > ${generated}/ebb.1 VERBATIM)
    list(APPEND outputs ${generated}/ebb.1)
    install(FILES ${generated}/ebb.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT command)
  endif()
  add_custom_target(ebb_command_files ALL DEPENDS ${outputs})
  install(FILES ${generated}/completion.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions
    RENAME ebb COMPONENT command)
  install(FILES ${generated}/completion.zsh DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions
    RENAME _ebb COMPONENT command)
  install(FILES ${generated}/completion.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d
    RENAME ebb.fish COMPONENT command)
endif()

# --- pkg-config: ebb.pc is the core, ebb-<component>.pc each component ------------------------------------------

# The packages that each component's library calls.
set(pc_needs_ebb re2)
set(pc_needs_sqlite sqlite3)
set(pc_needs_postgres libpq)
set(pc_needs_yaml libfyaml)
set(pc_needs_handlers libcurl)
set(pc_needs_metrics prometheus-cpp-core)
set(pc_needs_telemetry "ebb-handlers = ${PROJECT_VERSION}")
set(pc_needs_testing "")
set(pc_needs_diagram "")
set(pc_about_ebb "${PROJECT_DESCRIPTION}")
set(pc_about_sqlite "Ebb: state in SQLite")
set(pc_about_postgres "Ebb: state in PostgreSQL")
set(pc_about_yaml "Ebb: workflow definitions in YAML")
set(pc_about_testing "Ebb: tests of workflows in virtual time")
set(pc_about_diagram "Ebb: pictures of workflows and instances")
set(pc_about_metrics "Ebb: numbers for Prometheus")
set(pc_about_telemetry "Ebb: traces for OpenTelemetry")
set(pc_about_handlers "Ebb: steps that call programs and HTTP services")

# The .pc files move with the prefix, unless the folders were given as absolute paths.
set(pc_dir ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
set(PC_PREFIX ${CMAKE_INSTALL_PREFIX})
if(NOT IS_ABSOLUTE ${pc_dir})
  file(RELATIVE_PATH to_prefix /prefix/${pc_dir} /prefix)
  string(REGEX REPLACE "/$" "" to_prefix "${to_prefix}")
  set(PC_PREFIX "\${pcfiledir}/${to_prefix}")
endif()
foreach(folder IN ITEMS LIB INCLUDE)
  set(PC_${folder}DIR ${CMAKE_INSTALL_${folder}DIR})
  if(NOT IS_ABSOLUTE ${PC_${folder}DIR})
    string(PREPEND PC_${folder}DIR "\${prefix}/")
  endif()
endforeach()

foreach(component IN LISTS EBB_COMPONENTS)
  if(NOT DEFINED pc_about_${component})
    message(FATAL_ERROR "cmake/install_rules.cmake: say what the component '${component}' is and needs")
  endif()
  set(PC_NAME ebb)
  set(PC_REQUIRES nlohmann_json)
  set(PC_LIBS "-lebb -pthread")
  if(NOT component STREQUAL ebb)
    set(PC_NAME ebb-${component})
    set(PC_REQUIRES "ebb = ${PROJECT_VERSION}")
    set(PC_LIBS "-lebb_${component}")
  endif()
  set(PC_DESCRIPTION "${pc_about_${component}}")
  # A static library brings nothing along, so its users link what it calls; a shared one has done so itself.
  set(PC_REQUIRES_PRIVATE ${pc_needs_${component}})
  if(NOT BUILD_SHARED_LIBS)
    list(APPEND PC_REQUIRES ${pc_needs_${component}})
    set(PC_REQUIRES_PRIVATE "")
  endif()
  list(JOIN PC_REQUIRES ", " PC_REQUIRES)
  configure_file(${PROJECT_SOURCE_DIR}/cmake/ebb.pc.in ${PROJECT_BINARY_DIR}/${PC_NAME}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/${PC_NAME}.pc DESTINATION ${pc_dir} COMPONENT development)
endforeach()
