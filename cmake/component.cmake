# ebb_component(<name> [INSTALL] DIRECTORIES <dir>... [PUBLIC <lib>...] [PRIVATE <lib>...])
# One library from all .cpp files of some folders, static unless BUILD_SHARED_LIBS. Its alias is
# ebb::<name without "ebb_">.

# Installed shared libraries find one another.
if(BUILD_SHARED_LIBS AND NOT DEFINED CMAKE_INSTALL_RPATH)
  file(RELATIVE_PATH from_bin ${CMAKE_INSTALL_FULL_BINDIR} ${CMAKE_INSTALL_FULL_LIBDIR})
  set(CMAKE_INSTALL_RPATH "$ORIGIN;$ORIGIN/${from_bin}")
endif()

# For libraries and test programs; the other programs of the tree are compiled source by source in any case.
option(EBB_UNITY "Compile many sources of a library as one: a first build is much faster, and a build after a change slower" OFF)
# GCC limits how much inlining may make one translation unit grow. A group of sources is one unit and reaches that limit, so that
# even constructors of strings become calls: 9 % more instructions per step in the kernel, measured. Without the limit a group is as
# fast as its sources by themselves. Where more is inlined, g++ 12 warns falsely about the bounds of std::string's own copies.
if(EBB_UNITY AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND NOT CMAKE_BUILD_TYPE STREQUAL "Debug")
  add_compile_options("SHELL:--param inline-unit-growth=300" "SHELL:--param large-unit-insns=200000" -Wno-array-bounds)
endif()

# One precompiled header serves all components.
option(EBB_PRECOMPILED_HEADER "Precompile what many sources include, which a third of the build would parse" ON)
if(EBB_PRECOMPILED_HEADER)
  add_library(ebb_pch OBJECT ${PROJECT_SOURCE_DIR}/src/pch/pch.cpp)
  target_link_libraries(ebb_pch PRIVATE ebb_warnings ebb_fmt nlohmann_json::nlohmann_json Threads::Threads)
  target_compile_features(ebb_pch PRIVATE cxx_std_20)
  target_compile_definitions(ebb_pch PRIVATE JSON_USE_IMPLICIT_CONVERSIONS=0)
  target_precompile_headers(ebb_pch PRIVATE ${PROJECT_SOURCE_DIR}/src/pch/pch.h)
endif()

# ebb_unity(<target> <source>...): compiles many sources as one, if EBB_UNITY says so. Sources whose file-local names clash are
# kept apart, so that a new source needs no care.
function(ebb_unity target)
  list(LENGTH ARGN count)
  if(NOT EBB_UNITY OR count LESS 4)
    return()
  endif()
  find_package(Python3 3.9 REQUIRED COMPONENTS Interpreter)
  execute_process(COMMAND ${Python3_EXECUTABLE} -B ${PROJECT_SOURCE_DIR}/cmake/unity_groups.py
      ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR}/unity_groups.json ${ARGN}
    OUTPUT_VARIABLE groups COMMAND_ERROR_IS_FATAL ANY)
  string(REGEX MATCHALL "[0-9]+" groups "${groups}")
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  foreach(source group IN ZIP_LISTS ARGN groups)
    set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${group})
  endforeach()
endfunction()

function(ebb_component name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "INSTALL" "" "DIRECTORIES;PUBLIC;PRIVATE")
  set(sources)
  foreach(dir IN LISTS arg_DIRECTORIES)
    file(GLOB found CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${dir}/*.cpp)
    list(APPEND sources ${found})
  endforeach()
  if(NOT sources)
    return()
  endif()
  # What is not installed is linked into our own programs and tests only.
  set(kind STATIC)
  if(arg_INSTALL AND BUILD_SHARED_LIBS)
    set(kind SHARED)
  endif()
  add_library(${name} ${kind} ${sources})
  ebb_unity(${name} ${sources})
  string(REPLACE "ebb_" "" alias ${name})
  if(alias STREQUAL name)
    set(alias ebb)
  endif()
  add_library(ebb::${alias} ALIAS ${name})
  target_include_directories(${name}
    PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>
    PRIVATE ${PROJECT_SOURCE_DIR}/src)
  # fmt is compiled in: a program that links an installed Ebb does not need it.
  list(TRANSFORM arg_PRIVATE REPLACE "^(ebb_fmt)$" "$<BUILD_INTERFACE:\\1>")
  target_link_libraries(${name} PUBLIC ${arg_PUBLIC} PRIVATE $<BUILD_INTERFACE:ebb_warnings> ${arg_PRIVATE})
  target_compile_features(${name} PUBLIC cxx_std_20)
  target_compile_definitions(${name} PRIVATE JSON_USE_IMPLICIT_CONVERSIONS=0)
  # The header is precompiled for what is hidden; a shared library shows everything.
  if(EBB_PRECOMPILED_HEADER AND NOT kind STREQUAL SHARED)
    target_precompile_headers(${name} REUSE_FROM ebb_pch)
  endif()
  if(kind STREQUAL SHARED)
    # The components share internals (codecs, the store interface) that no installed header declares, so the
    # whole library is visible instead of macros on every class of the public headers.
    set_target_properties(${name} PROPERTIES CXX_VISIBILITY_PRESET default VISIBILITY_INLINES_HIDDEN OFF
      VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
  endif()
  if(arg_INSTALL)
    set_property(GLOBAL APPEND PROPERTY EBB_INSTALL_TARGETS ${name})
    set_property(TARGET ${name} PROPERTY EXPORT_NAME ${alias})
  endif()
endfunction()
