# The clients for Python and TypeScript as packages to install: `pip install DIR` and `npm install DIR`, both without a
# network. Included by the top level, after src, which says if there is a web UI: its TypeScript builds the client, too.
set(clients ${PROJECT_SOURCE_DIR}/clients)
set(client_dir ${CMAKE_INSTALL_DATADIR}/ebb/clients)
install(DIRECTORY ${clients}/python ${clients}/typescript DESTINATION ${client_dir} COMPONENT development
  PATTERN .gitignore EXCLUDE PATTERN __pycache__ EXCLUDE PATTERN build EXCLUDE PATTERN *.egg-info EXCLUDE
  PATTERN dist EXCLUDE PATTERN node_modules EXCLUDE PATTERN *.tgz EXCLUDE)

if(EBB_HAS_UI AND TARGET ebb_assets)
  set(out ${PROJECT_BINARY_DIR}/clients/typescript)
  file(GLOB sources CONFIGURE_DEPENDS ${clients}/typescript/src/*.ts)
  add_custom_command(OUTPUT ${out}/built
    COMMAND ${CMAKE_COMMAND} -DNODE=${EBB_NODE} -DTSC=${PROJECT_SOURCE_DIR}/ui/node_modules/typescript/bin/tsc
      -DPACKAGE=${clients}/typescript -DOUT=${out} -P ${PROJECT_SOURCE_DIR}/cmake/build_typescript_client.cmake
    DEPENDS ${sources} ${clients}/typescript/tsconfig.json ${PROJECT_SOURCE_DIR}/cmake/build_typescript_client.cmake
    COMMENT "Building the client for TypeScript" VERBATIM)
  add_custom_target(ebb_typescript_client ALL DEPENDS ${out}/built)
  # It fetches the compiler.
  add_dependencies(ebb_typescript_client ebb_assets)
  install(DIRECTORY ${out}/dist DESTINATION ${client_dir}/typescript COMPONENT development OPTIONAL)
endif()
