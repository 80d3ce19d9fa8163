# The web UI: npm and Vite build it from ui/, and ebb_assets holds the result (src/server/assets).
option(EBB_UI "Build the web UI and embed it in the program (needs Node 18 or later with npm)" ${PROJECT_IS_TOP_LEVEL})

function(ebb_ui_find_node)
  find_program(EBB_NODE node)
  find_program(EBB_NPM npm)
  set(reason)
  if(NOT EBB_NODE OR NOT EBB_NPM)
    set(reason "node and npm were not both found")
  else()
    execute_process(COMMAND ${EBB_NODE} --version OUTPUT_VARIABLE version OUTPUT_STRIP_TRAILING_WHITESPACE)
    string(REGEX REPLACE "^v" "" version "${version}")
    if(version VERSION_LESS 18)
      set(reason "${EBB_NODE} is version ${version}")
    endif()
  endif()
  if(reason)
    message(FATAL_ERROR "The web UI needs Node 18 or later with npm, but ${reason}. "
      "Install both (Debian: apt-get install nodejs npm), or build without the UI: -DEBB_UI=OFF.")
  endif()
endfunction()

# ebb_assets(<name>): the library with the UI's files, or with none.
function(ebb_assets name)
  find_package(ZLIB REQUIRED)
  if(NOT EBB_UI)
    ebb_component(${name} DIRECTORIES server/assets server/assets/absent PUBLIC ebb PRIVATE ZLIB::ZLIB)
    return()
  endif()
  ebb_ui_find_node()
  set(ui ${PROJECT_SOURCE_DIR}/ui)
  set(out ${PROJECT_BINARY_DIR}/ui)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${ui}/src/* ${ui}/public/* ${ui}/scripts/*.mjs)
  add_custom_command(OUTPUT ${out}/assets.bin ${out}/assets_table.inc
    COMMAND ${EBB_NODE} ${ui}/scripts/build.mjs ${out}
    DEPENDS ${sources} ${ui}/index.html ${ui}/package.json ${ui}/package-lock.json ${ui}/vite.config.ts
            ${ui}/svelte.config.js ${ui}/tsconfig.json
    COMMENT "Building the web UI" VERBATIM)
  ebb_component(${name} DIRECTORIES server/assets server/assets/embedded PUBLIC ebb PRIVATE ZLIB::ZLIB)
  set(embedded ${CMAKE_CURRENT_SOURCE_DIR}/server/assets/embedded/embedded.cpp)
  target_sources(${name} PRIVATE ${out}/assets_table.inc)
  target_include_directories(${name} PRIVATE ${out})
  set_source_files_properties(${embedded} PROPERTIES
    OBJECT_DEPENDS "${out}/assets.bin;${out}/assets_table.inc"
    COMPILE_DEFINITIONS EBB_UI_BLOB="${out}/assets.bin")
endfunction()
