# SPDX-License-Identifier: Apache-2.0
# oae_vp_add_plugin(NAME SOURCE...): the plugin libNAME.so, which brings kinds of devices to oae-vp (models/device/README.md).
# NAME is a target as that of add_library(), so that target_link_libraries() and the like take it. It has the note by which
# oae-vp recognizes it, and it uses the core of the program that loads it.
function(oae_vp_add_plugin name)
  string(REGEX MATCH "^[^ ]+ [0-9]+" needed "${OAE_VP_COMPILER}")
  string(REGEX MATCH "^[^ ]+ [0-9]+" found "${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION}")
  if(NOT found STREQUAL needed)
    message(FATAL_ERROR "oae-vp was compiled by ${needed} and would refuse the plugin ${name}, which would be compiled by ${found}. "
                        "Choose that compiler in an empty build folder: cmake -DCMAKE_CXX_COMPILER=...")
  endif()
  add_library(${name} MODULE ${ARGN} ${OAE_VP_PLUGIN_NOTE})
  target_link_libraries(${name} PRIVATE OaeVp::core)
  # A symbol that is missing is found here, and not when the plugin is loaded.
  target_link_options(${name} PRIVATE LINKER:--no-undefined)
  set_target_properties(${name} PROPERTIES
    CXX_STANDARD 17
    CXX_STANDARD_REQUIRED ON
    CXX_EXTENSIONS OFF
    # Templates of SystemC, such as the number of a TLM extension, are one object in the process.
    CXX_VISIBILITY_PRESET default
    VISIBILITY_INLINES_HIDDEN OFF)
endfunction()
