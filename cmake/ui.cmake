# The web UI: npm and Vite build it from ui/, and ebb_assets holds the result (src/server/assets). Without Node, or when
# npm cannot fetch the packages, the build says so and continues without the UI.
option(EBB_UI "Build the web UI and embed it in the program (needs Node 18 or later with npm)" ${PROJECT_IS_TOP_LEVEL})

# ebb_ui_needs(<out>): what is missing for the UI, as a text for people; empty if nothing is.
function(ebb_ui_needs out)
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
  set(${out} "${reason}" PARENT_SCOPE)
endfunction()

# ebb_assets(<name>): the library with the UI's files, or with none.
function(ebb_assets name)
  set(missing)
  if(EBB_UI)
    ebb_ui_needs(missing)
  endif()
  if(missing)
    message(WARNING "This build has no web UI, which needs Node 18 or later with npm: ${missing}.")
  endif()
  if(NOT EBB_UI OR missing)
    ebb_component(${name} DIRECTORIES server/assets server/assets/absent PUBLIC ebb PRIVATE ZLIB::ZLIB)
    return()
  endif()
  set(EBB_HAS_UI ON CACHE INTERNAL "")
  set(ui ${PROJECT_SOURCE_DIR}/ui)
  set(out ${PROJECT_BINARY_DIR}/ui)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${ui}/src/* ${ui}/public/* ${ui}/scripts/*.mjs)
  add_custom_command(OUTPUT ${out}/assets.bin ${out}/assets_table.inc
    COMMAND ${EBB_NODE} ${ui}/scripts/build.mjs ${out} --optional
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
