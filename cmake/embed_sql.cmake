# embed_sql(<target> NAMESPACE <ns> DIRECTORY <dir>): every "-- name: x" in <dir>/*.sql becomes
#   inline constexpr std::string_view <ns>::x
# in the generated header "<ns with / for ::>.h". embed_migrations() does the same for whole numbered files,
# as <ns>::kAll, an array of {number, name, sql}.
set(EBB_EMBED_SCRIPT ${CMAKE_CURRENT_LIST_DIR}/embed_sql_run.cmake)

function(embed_sql target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "MIGRATIONS" "NAMESPACE;DIRECTORY" "")
  set(dir ${CMAKE_CURRENT_SOURCE_DIR}/${arg_DIRECTORY})
  file(GLOB files CONFIGURE_DEPENDS ${dir}/*.sql)
  string(REPLACE "::" "/" path ${arg_NAMESPACE})
  set(out ${CMAKE_CURRENT_BINARY_DIR}/generated/${path}.h)
  add_custom_command(OUTPUT ${out}
    COMMAND ${CMAKE_COMMAND} -DOUT=${out} -DNS=${arg_NAMESPACE} -DMIGRATIONS=${arg_MIGRATIONS}
            "-DFILES=${files}" -P ${EBB_EMBED_SCRIPT}
    DEPENDS ${files} ${EBB_EMBED_SCRIPT} VERBATIM)
  target_sources(${target} PRIVATE ${out})
  target_include_directories(${target} PRIVATE ${CMAKE_CURRENT_BINARY_DIR}/generated)
endfunction()
