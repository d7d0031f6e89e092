# SPDX-License-Identifier: Apache-2.0
# Verilator, for the RTL of this folder and for the blocks of users (models/axi/kind).
include_guard(GLOBAL)
find_program(VERILATOR verilator REQUIRED)
find_path(VERILATOR_INCLUDE verilated.h PATHS /usr/share/verilator/include REQUIRED)
set(VERILATE_SCRIPT ${CMAKE_CURRENT_LIST_DIR}/verilate.cmake CACHE INTERNAL "Runs Verilator")

# What all files need that include a header of Verilator. A failed assertion is thrown, as are $stop and $finish, see
# stop.cpp. Waveforms cost nothing until a file is opened.
add_library(verilated_headers INTERFACE)
target_include_directories(verilated_headers SYSTEM INTERFACE ${VERILATOR_INCLUDE} ${VERILATOR_INCLUDE}/vltstd)
target_compile_definitions(verilated_headers INTERFACE
  VL_NO_LEGACY VL_USER_FINISH VL_USER_STOP VL_USER_FATAL VM_TRACE=1 VM_TRACE_VCD=1)

# verilate(TARGET PREFIX CLASS TOP MODULE SOURCES FILE... [DEPENDS FILE...] [ARGUMENTS ARGUMENT...]): the static library
# TARGET with the class CLASS of the module. The caller says how it is optimized.
function(verilate target)
  cmake_parse_arguments(VERILATE "" "PREFIX;TOP" "SOURCES;DEPENDS;ARGUMENTS" ${ARGN})
  set(dir ${CMAKE_CURRENT_BINARY_DIR}/${target}.verilated)
  add_custom_command(
    OUTPUT ${dir}/${VERILATE_PREFIX}.all.cpp
    # Named so that what includes them is compiled again.
    BYPRODUCTS ${dir}/${VERILATE_PREFIX}.h ${dir}/${VERILATE_PREFIX}___024root.h
    COMMAND ${CMAKE_COMMAND} -DVERILATOR=${VERILATOR} -DDIR=${dir} -DPREFIX=${VERILATE_PREFIX}
      "-DARGUMENTS=--top-module;${VERILATE_TOP};${VERILATE_ARGUMENTS};${VERILATE_SOURCES}" -P ${VERILATE_SCRIPT}
    DEPENDS ${VERILATE_DEPENDS} ${VERILATE_SOURCES} ${VERILATE_SCRIPT}
    VERBATIM COMMENT "Verilating ${VERILATE_TOP}")
  add_library(${target} STATIC ${dir}/${VERILATE_PREFIX}.all.cpp)
  target_include_directories(${target} SYSTEM PUBLIC ${dir})
  target_compile_options(${target} PRIVATE -w)
  # Core and plugins may have classes of the same name.
  set_target_properties(${target} PROPERTIES CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
  target_link_libraries(${target} PUBLIC verilated_headers)
endfunction()
