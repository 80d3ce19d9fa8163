# The library of `ebb serve`, with the API's document and the web UI compiled in.
include(ui)

# ebb_server_needs(<out>): what is missing for the server, as a text for people; empty if nothing is.
function(ebb_server_needs out)
  find_package(Boost 1.81 QUIET GLOBAL)
  find_package(OpenSSL QUIET GLOBAL)
  find_package(ZLIB QUIET GLOBAL)
  find_package(Python3 QUIET GLOBAL COMPONENTS Interpreter)
  set(missing)
  if(NOT Boost_FOUND)
    list(APPEND missing "Boost 1.81 (libboost1.81-dev)")
  endif()
  if(NOT OpenSSL_FOUND)
    list(APPEND missing "OpenSSL (libssl-dev)")
  endif()
  if(NOT ZLIB_FOUND)
    list(APPEND missing "zlib (zlib1g-dev)")
  endif()
  set(status 1)
  if(Python3_FOUND)
    execute_process(COMMAND ${Python3_EXECUTABLE} -c "import yaml" RESULT_VARIABLE status OUTPUT_QUIET ERROR_QUIET)
  endif()
  if(NOT status EQUAL 0)
    list(APPEND missing "YAML for Python 3 (python3-yaml)")
  endif()
  list(JOIN missing ", " missing)
  set(${out} "${missing}" PARENT_SCOPE)
endfunction()

# ebb_oidc(<out>): the folder with what checks signatures. Not by pkg-config, which wants the headers of libjansson, too.
function(ebb_oidc out)
  set(EBB_HAS_OIDC OFF CACHE INTERNAL "Logins by OpenID Connect are a part of this build")
  set(${out} server/auth/oidc/absent PARENT_SCOPE)
  if(NOT EBB_WITH_OIDC)
    return()
  endif()
  find_path(EBB_CJOSE_INCLUDE cjose/cjose.h)
  find_library(EBB_CJOSE_LIBRARY cjose)
  mark_as_advanced(EBB_CJOSE_INCLUDE EBB_CJOSE_LIBRARY)
  if(NOT EBB_CJOSE_INCLUDE OR NOT EBB_CJOSE_LIBRARY)
    message(WARNING "This build has no logins by OpenID Connect, which need libcjose (libcjose-dev).")
    return()
  endif()
  set(EBB_HAS_OIDC ON CACHE INTERNAL "")
  set(${out} server/auth/oidc/cjose PARENT_SCOPE)
endfunction()

# The target ebb_server, unless it is switched off or something that it needs is missing.
function(ebb_server_component)
  set(EBB_HAS_UI OFF CACHE INTERNAL "The web UI is a part of this build")
  if(NOT EBB_WITH_SERVER)
    return()
  endif()
  ebb_server_needs(missing)
  if(missing)
    message(WARNING "This build has no `ebb serve`, because these packages were not found: ${missing}.")
    return()
  endif()
  ebb_assets(ebb_assets)

  set(openapi_json ${PROJECT_BINARY_DIR}/openapi.json)
  file(GLOB openapi_parts CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/schema/openapi/*.yaml)
  add_custom_command(OUTPUT ${openapi_json}
    COMMAND Python3::Interpreter ${PROJECT_SOURCE_DIR}/cmake/openapi.py ${PROJECT_SOURCE_DIR}/schema/openapi > ${openapi_json}
    DEPENDS ${openapi_parts} ${PROJECT_SOURCE_DIR}/cmake/openapi.py VERBATIM)

  ebb_oidc(oidc)
  ebb_component(ebb_server
    DIRECTORIES server server/http server/api server/auth server/auth/oidc ${oidc} server/live server/remote
    PUBLIC ebb ebb_view ebb_assets
    PRIVATE ebb_diagram ebb_hooks ebb_yaml ebb_handlers OpenSSL::SSL ZLIB::ZLIB Boost::headers ebb_fmt)
  target_compile_definitions(ebb_server PRIVATE EBB_VERSION="${PROJECT_VERSION}"
    BOOST_ASIO_NO_DEPRECATED BOOST_ASIO_DISABLE_CONCEPTS)
  if(EBB_HAS_OIDC)
    target_include_directories(ebb_server SYSTEM PRIVATE ${EBB_CJOSE_INCLUDE})
    target_link_libraries(ebb_server PRIVATE ${EBB_CJOSE_LIBRARY})
  endif()
  target_sources(ebb_server PRIVATE ${openapi_json})
  set_source_files_properties(${CMAKE_CURRENT_SOURCE_DIR}/server/openapi.cpp PROPERTIES
    OBJECT_DEPENDS ${openapi_json} COMPILE_DEFINITIONS EBB_OPENAPI_FILE="${openapi_json}")
  # Without optimisation these three are slow to compile and slow to run, and Boost's headers do not go together with
  # the precompiled one. ThreadSanitizer does not see the fences of Asio, whose locks order the same accesses.
  set_source_files_properties(server/http/connection.cpp server/http/listener.cpp server/http/tls.cpp PROPERTIES
    COMPILE_OPTIONS "$<$<CONFIG:Debug>:-O1>;$<$<CXX_COMPILER_ID:GNU>:-Wno-tsan>" SKIP_PRECOMPILE_HEADERS ON)
endfunction()
