# Run while Ebb is installed: copies the pages of the docs from SOURCE to OUTPUT, with links that lead to what is installed.
# A link to another page stays as it is. A link to a header or a schema is changed to the relative path below the
# prefix (TO_INCLUDE and TO_DATA, seen from the folder of README.md), and a link to what only a checkout has becomes plain text.
cmake_policy(VERSION 3.25)

file(GLOB_RECURSE pages RELATIVE ${SOURCE} ${SOURCE}/docs/*.md)
file(REMOVE_RECURSE ${OUTPUT})
list(APPEND pages README.md CHANGELOG.md)
foreach(page IN LISTS pages)
  string(REGEX REPLACE "[^/]+$" "" folder ${page})
  string(REGEX REPLACE "[^/]+/" "../" up "${folder}")
  file(READ ${SOURCE}/${page} text)
  # The pictures that the tests draw lie beside the other pictures.
  string(REPLACE "](${up}tests/golden/diagrams/" "](${up}docs/images/" text "${text}")
  string(REPLACE "](${up}include/ebb" "](${up}${TO_INCLUDE}/ebb" text "${text}")
  string(REPLACE "](${up}schema/" "](${up}${TO_DATA}/ebb/schema/" text "${text}")
  string(REPLACE "." "\\." up_pattern "${up}")
  string(REGEX REPLACE "\\[([^]]*)\\]\\(${up_pattern}(CONTRIBUTING\\.md|(bench|cmake|src|tests)/)[^)]*\\)" "\\1" text "${text}")
  file(WRITE ${OUTPUT}/${page} "${text}")
endforeach()
