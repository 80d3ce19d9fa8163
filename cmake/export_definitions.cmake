# ebb_export_definitions(TARGET <library> FUNCTIONS <function>... OUT <folder> [FORMAT json|yaml])
#
# Writes the workflows that C++ code builds as files, while the project is built: OUT/<workflow>.ebb.json, or
# .ebb.yaml. Each function is declared as `ebb::Definition f()`, with its namespaces (shop::order_workflow), and defined
# in TARGET, which is a library: the program that calls them has a `main` of its own. Commit the files, and let CI build
# and run `git diff --exit-code`: a change of a workflow then shows as text and as a picture.
#
# A relative OUT lies in the source folder. A file that would be the same is not touched. An invalid workflow fails the
# build with its problems. FORMAT yaml needs find_package(ebb COMPONENTS yaml). The target <library>_definitions, which
# belongs to ALL, writes the files.

set(EBB_EXPORT_TEMPLATE ${CMAKE_CURRENT_LIST_DIR}/export_definitions.cpp.in)

function(ebb_export_definitions)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "TARGET;OUT;FORMAT" "FUNCTIONS")
  set(me "ebb_export_definitions")
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "${me}: there is no argument ${arg_UNPARSED_ARGUMENTS}: give TARGET, FUNCTIONS, OUT and FORMAT.")
  endif()
  foreach(needed IN ITEMS TARGET FUNCTIONS OUT)
    if(NOT arg_${needed})
      message(FATAL_ERROR "${me}: ${needed} is missing: TARGET library FUNCTIONS function... OUT folder.")
    endif()
  endforeach()
  if(NOT TARGET ${arg_TARGET})
    message(FATAL_ERROR "${me}: there is no target ${arg_TARGET}.")
  endif()
  get_target_property(type ${arg_TARGET} TYPE)
  if(type STREQUAL "EXECUTABLE" OR type STREQUAL "UTILITY")
    message(FATAL_ERROR "${me}: ${arg_TARGET} is not a library. Put the functions that build the workflows in a library "
      "that ${arg_TARGET} links, and name that one.")
  endif()
  if(NOT arg_FORMAT)
    set(arg_FORMAT json)
  endif()
  if(NOT arg_FORMAT MATCHES "^(json|yaml)$")
    message(FATAL_ERROR "${me}: FORMAT is json or yaml, not ${arg_FORMAT}.")
  endif()
  if(arg_FORMAT STREQUAL "yaml" AND NOT TARGET ebb::yaml)
    message(FATAL_ERROR "${me}: FORMAT yaml needs find_package(ebb COMPONENTS yaml).")
  endif()

  set(EBB_EXPORT_DECLARATIONS "")
  set(EBB_EXPORT_CALLS "")
  foreach(function IN LISTS arg_FUNCTIONS)
    if(NOT function MATCHES "^(::)?[A-Za-z_][A-Za-z0-9_]*(::[A-Za-z_][A-Za-z0-9_]*)*$")
      message(FATAL_ERROR "${me}: \"${function}\" is not the name of a function, such as shop::order_workflow.")
    endif()
    string(REGEX REPLACE "^::" "" function "${function}")
    string(REGEX MATCH "^(.*)::([^:]+)$" has_namespace "${function}")
    if(has_namespace)
      string(APPEND EBB_EXPORT_DECLARATIONS "namespace ${CMAKE_MATCH_1} {\nebb::Definition ${CMAKE_MATCH_2}();\n}\n")
    else()
      string(APPEND EBB_EXPORT_DECLARATIONS "ebb::Definition ${function}();\n")
    endif()
    string(APPEND EBB_EXPORT_CALLS "    {\"${function}\", &::${function}},\n")
  endforeach()

  set(name ${arg_TARGET}_definitions)
  get_filename_component(folder ${arg_OUT} ABSOLUTE BASE_DIR ${CMAKE_CURRENT_SOURCE_DIR})
  set(source ${CMAKE_CURRENT_BINARY_DIR}/${name}.cpp)
  configure_file(${EBB_EXPORT_TEMPLATE} ${source} @ONLY)
  add_executable(${name}_writer EXCLUDE_FROM_ALL ${source})
  target_link_libraries(${name}_writer PRIVATE ${arg_TARGET} ebb::ebb)
  if(arg_FORMAT STREQUAL "yaml")
    target_link_libraries(${name}_writer PRIVATE ebb::yaml)
    target_compile_definitions(${name}_writer PRIVATE EBB_EXPORT_YAML)
  endif()
  # Which files there are is known when the functions have run, so a stamp stands for them.
  set(stamp ${CMAKE_CURRENT_BINARY_DIR}/${name}.stamp)
  add_custom_command(OUTPUT ${stamp}
    COMMAND ${name}_writer ${folder}
    COMMAND ${CMAKE_COMMAND} -E touch ${stamp}
    DEPENDS ${name}_writer
    COMMENT "Writing the workflows of ${arg_TARGET} to ${arg_OUT}"
    VERBATIM)
  add_custom_target(${name} ALL DEPENDS ${stamp})
endfunction()
