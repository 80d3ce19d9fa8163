# ebb_component(<name> [INSTALL] DIRECTORIES <dir>... [PUBLIC <lib>...] [PRIVATE <lib>...])
# One library from all .cpp files of some folders, static unless BUILD_SHARED_LIBS. Its alias is
# ebb::<name without "ebb_">.

# Installed shared libraries find one another.
if(BUILD_SHARED_LIBS AND NOT DEFINED CMAKE_INSTALL_RPATH)
  file(RELATIVE_PATH from_bin ${CMAKE_INSTALL_FULL_BINDIR} ${CMAKE_INSTALL_FULL_LIBDIR})
  set(CMAKE_INSTALL_RPATH "$ORIGIN;$ORIGIN/${from_bin}")
endif()

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
  string(REPLACE "ebb_" "" alias ${name})
  if(alias STREQUAL name)
    set(alias ebb)
  endif()
  add_library(ebb::${alias} ALIAS ${name})
  target_include_directories(${name}
    PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>
    PRIVATE ${PROJECT_SOURCE_DIR}/src)
  # fmt is compiled in, header-only: whoever links an installed Ebb does not need it.
  list(TRANSFORM arg_PRIVATE REPLACE "^(fmt::fmt-header-only)$" "$<BUILD_INTERFACE:\\1>")
  target_link_libraries(${name} PUBLIC ${arg_PUBLIC} PRIVATE $<BUILD_INTERFACE:ebb_warnings> ${arg_PRIVATE})
  target_compile_features(${name} PUBLIC cxx_std_20)
  target_compile_definitions(${name} PRIVATE JSON_USE_IMPLICIT_CONVERSIONS=0)
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
