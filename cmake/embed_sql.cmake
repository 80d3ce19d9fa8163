# embed_sql(<target> NAMESPACE <ns> DIRECTORY <dir>): every "-- name: x" in <dir>/*.sql becomes
#   inline constexpr std::string_view <ns>::x
# in the generated header "<ns with / for ::>.h". With MIGRATIONS, whole numbered files become <ns>::kAll, an array of
# {number, name, sql}.
#
# What several statements of a folder share is a fragment:
#   -- fragment: of_worker
#   WHERE lease_owner = $worker
# and "-- include: of_worker" in a statement or in another fragment stands for it. The further lines of the fragment get
# the indentation of that line. Only "," or ")" may follow.
#
# Parameters have names where the statement says, directly below its own name, in which order they are bound:
#   -- name: release_tasks
#   -- parameters: worker tasks
# $worker is $1 then, $tasks is $2; in SQLite, ?worker is ?1. So a fragment serves statements whose numbers differ.
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
