# The library of `ebb serve`, with the API's document compiled in.
find_package(Boost 1.81 REQUIRED)
find_package(OpenSSL REQUIRED)
find_package(Python3 REQUIRED COMPONENTS Interpreter)

set(openapi_json ${PROJECT_BINARY_DIR}/openapi.json)
file(GLOB openapi_parts CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/schema/openapi/*.yaml)
add_custom_command(OUTPUT ${openapi_json}
  COMMAND Python3::Interpreter ${PROJECT_SOURCE_DIR}/cmake/openapi.py ${PROJECT_SOURCE_DIR}/schema/openapi > ${openapi_json}
  DEPENDS ${openapi_parts} ${PROJECT_SOURCE_DIR}/cmake/openapi.py VERBATIM)

ebb_component(ebb_server DIRECTORIES server server/http server/api server/auth server/live
  PUBLIC ebb ebb_view ebb_assets PRIVATE ebb_yaml ebb_handlers OpenSSL::SSL Boost::headers ebb_fmt)
target_compile_definitions(ebb_server PRIVATE EBB_VERSION="${PROJECT_VERSION}"
  BOOST_ASIO_NO_DEPRECATED BOOST_ASIO_DISABLE_CONCEPTS)
target_sources(ebb_server PRIVATE ${openapi_json})
set_source_files_properties(${CMAKE_CURRENT_SOURCE_DIR}/server/openapi.cpp PROPERTIES
  OBJECT_DEPENDS ${openapi_json} COMPILE_DEFINITIONS EBB_OPENAPI_FILE="${openapi_json}")
# Without optimisation these three are slow to compile and slow to run.
set_source_files_properties(server/http/connection.cpp server/http/listener.cpp server/http/tls.cpp PROPERTIES
  COMPILE_OPTIONS "$<$<CONFIG:Debug>:-O1>")
# Boost's headers do not go together with the precompiled one.
set_source_files_properties(server/http/connection.cpp server/http/listener.cpp server/http/tls.cpp PROPERTIES
  SKIP_PRECOMPILE_HEADERS ON)
