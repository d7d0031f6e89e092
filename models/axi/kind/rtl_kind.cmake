# SPDX-License-Identifier: Apache-2.0
# oae_vp_add_rtl_kind(NAME ...): makes a kind of device of a block in Verilog or SystemVerilog. README.md explains the options.
#
# In the tree of OAE-VP, the kind becomes part of all programs. Elsewhere, with the package OaeVp, it becomes the plugin
# NAME_kind, which a platform file names.
include_guard(GLOBAL)
set(OAE_VP_RTL_KIND_DIR ${CMAKE_CURRENT_LIST_DIR} CACHE INTERNAL "Where the generator is")

# Looks for what the function needs, only when it is called: other users of the package need no Verilator.
macro(oae_vp_find_verilator)
  find_package(Python3 REQUIRED COMPONENTS Interpreter)
  if(EXISTS ${OAE_VP_RTL_KIND_DIR}/verilator.cmake)
    include(${OAE_VP_RTL_KIND_DIR}/verilator.cmake)
  else()
    include(${OAE_VP_RTL_KIND_DIR}/../../../rtl/verilator.cmake)
  endif()
  # The run-time library of Verilator is that of OAE-VP, so that the headers must be of the same version.
  if(DEFINED OaeVp_VERILATOR_VERSION)
    execute_process(COMMAND ${VERILATOR} --version OUTPUT_VARIABLE version OUTPUT_STRIP_TRAILING_WHITESPACE)
    string(REGEX REPLACE "^Verilator ([^ ]+).*" "\\1" version "${version}")
    if(NOT version STREQUAL OaeVp_VERILATOR_VERSION)
      message(FATAL_ERROR "${VERILATOR} is of version ${version}, and OAE-VP was built with ${OaeVp_VERILATOR_VERSION}\n"
                          "  remedy: install that version, and name it by -DVERILATOR=FILE")
    endif()
  endif()
endmacro()

# Makes what a kind consists of, from the options of oae_vp_add_rtl_kind(): the library NAME_kind_rtl, and the source whose
# name becomes the value of the variable `out`.
function(oae_vp_verilate_kind out name)
  oae_vp_find_verilator()
  set(generator ${OAE_VP_RTL_KIND_DIR}/generate-rtl-kind)
  set(flags RESET_ACTIVE_HIGH)
  set(single BAR_SIZE CLASS_CODE CLOCK CLOCK_FREQUENCY DMA ID IDLE INTERRUPT_TRIGGER INTERRUPTS REGISTERS RESET TEXT TOP)
  set(several INCLUDE_DIRECTORIES PARAMETERS SOURCES TIE VERILATOR_ARGUMENTS)
  cmake_parse_arguments(KIND "${flags}" "${single}" "${several}" ${ARGN})
  set(where "${CMAKE_CURRENT_LIST_FILE}: oae_vp_add_rtl_kind(${name})")
  list(JOIN flags " " all)
  foreach(option ${single} ${several})
    string(APPEND all " ${option}")
  endforeach()
  # An unknown word after an option with several values looks like one of these.
  set(unknown ${KIND_UNPARSED_ARGUMENTS})
  foreach(option ${several})
    list(APPEND unknown ${KIND_${option}})
    list(FILTER unknown INCLUDE REGEX "^[A-Z][A-Z_]+$")
  endforeach()
  list(APPEND unknown ${KIND_UNPARSED_ARGUMENTS})
  if(unknown)
    list(GET unknown 0 first)
    if(NOT first MATCHES "^[A-Z_]+$")
      message(FATAL_ERROR "${where}: `${first}` belongs to no option\n  remedy: give an option one value, in quotes if it has "
                          "blanks, and write TEXT without `;`; the options are ${all}")
    endif()
    message(FATAL_ERROR "${where}: unknown option `${first}`\n  remedy: the options are ${all}")
  endif()
  if(KIND_KEYWORDS_MISSING_VALUES)
    list(GET KIND_KEYWORDS_MISSING_VALUES 0 first)
    message(FATAL_ERROR "${where}: ${first} has no value\n  remedy: give it one, or remove it")
  endif()
  foreach(option TOP SOURCES CLOCK_FREQUENCY ID)
    if(NOT DEFINED KIND_${option})
      message(FATAL_ERROR "${where}: ${option} is missing\n  remedy: add it; it has no default")
    endif()
  endforeach()
  foreach(default CLOCK=clk RESET=rst_n REGISTERS=s_axi INTERRUPT_TRIGGER=EDGE CLASS_CODE=120000)
    string(REPLACE "=" ";" default ${default})
    list(GET default 0 option)
    list(GET default 1 value)
    if(NOT DEFINED KIND_${option})
      set(KIND_${option} ${value})
    endif()
  endforeach()
  if(NOT KIND_INTERRUPT_TRIGGER MATCHES "^(EDGE|LEVEL)$")
    message(FATAL_ERROR "${where}: INTERRUPT_TRIGGER has the value `${KIND_INTERRUPT_TRIGGER}`\n  remedy: EDGE or LEVEL")
  endif()

  # Sources, and what they include
  set(sources)
  set(included)
  set(arguments)
  foreach(source ${KIND_SOURCES})
    get_filename_component(source ${source} ABSOLUTE BASE_DIR ${CMAKE_CURRENT_SOURCE_DIR})
    get_source_file_property(generated ${source} GENERATED)
    if(NOT EXISTS ${source} AND NOT generated)
      message(FATAL_ERROR "${where}: there is no file ${source}\n  remedy: correct SOURCES")
    elseif(source MATCHES "\\.(vh|svh)$")
      get_filename_component(folder ${source} DIRECTORY)
      list(APPEND included ${source})
      list(APPEND arguments -I${folder})
    elseif(source MATCHES "\\.(v|sv)$")
      list(APPEND sources ${source})
    else()
      message(FATAL_ERROR "${where}: ${source} is neither Verilog nor SystemVerilog\n"
                          "  remedy: SOURCES are files *.v and *.sv, and files *.vh and *.svh that these include")
    endif()
  endforeach()
  foreach(folder ${KIND_INCLUDE_DIRECTORIES})
    get_filename_component(folder ${folder} ABSOLUTE BASE_DIR ${CMAKE_CURRENT_SOURCE_DIR})
    list(APPEND arguments -I${folder})
  endforeach()
  foreach(parameter ${KIND_PARAMETERS})
    if(NOT parameter MATCHES "^[A-Za-z_][A-Za-z0-9_$]*=.")
      message(FATAL_ERROR "${where}: PARAMETERS has the value `${parameter}`\n"
                          "  remedy: NAME=VALUE, as in PARAMETERS DEPTH=16")
    endif()
    list(APPEND arguments -G${parameter})
  endforeach()
  list(REMOVE_DUPLICATES arguments)
  list(APPEND arguments ${KIND_VERILATOR_ARGUMENTS})

  # The source that connects the pins
  # `a-b` and `a_b` have classes of their own, since a name of a kind has no upper-case letters.
  string(REPLACE "-" "H" prefix ${name})
  string(REGEX REPLACE "[^A-Za-z0-9]" "_" prefix V${prefix}_kind)
  set(target ${name}_kind)
  set(glue ${CMAKE_CURRENT_BINARY_DIR}/${target}.cpp)
  set(options --caller ${CMAKE_CURRENT_LIST_FILE} --name ${name} --top ${KIND_TOP} --prefix ${prefix}
    --clock ${KIND_CLOCK} --clock-frequency ${KIND_CLOCK_FREQUENCY} --reset ${KIND_RESET} --registers ${KIND_REGISTERS}
    --id ${KIND_ID} --class-code ${KIND_CLASS_CODE})
  foreach(option DMA IDLE INTERRUPTS BAR_SIZE TEXT)
    if(DEFINED KIND_${option})
      string(TOLOWER --${option} argument)
      string(REPLACE _ - argument ${argument})
      list(APPEND options ${argument} ${KIND_${option}})
    endif()
  endforeach()
  if(KIND_RESET_ACTIVE_HIGH)
    list(APPEND options --reset-active-high)
  endif()
  if(KIND_INTERRUPT_TRIGGER STREQUAL LEVEL)
    list(APPEND options --level)
  endif()
  foreach(tie ${KIND_TIE})
    list(APPEND options --tie ${tie})
  endforeach()
  execute_process(COMMAND ${Python3_EXECUTABLE} ${generator} ${options} --options-only
    RESULT_VARIABLE result ERROR_VARIABLE mistakes)
  if(result)
    message(FATAL_ERROR "${mistakes}")
  endif()
  list(TRANSFORM arguments PREPEND --verilator-argument= OUTPUT_VARIABLE passed)
  list(TRANSFORM sources PREPEND --verilator-argument= OUTPUT_VARIABLE passed_sources)
  add_custom_command(
    OUTPUT ${glue}
    COMMAND ${Python3_EXECUTABLE} ${generator} ${options} --verilator ${VERILATOR} ${passed}
      ${passed_sources} --output ${glue}
    DEPENDS ${sources} ${included} ${generator}
    VERBATIM COMMENT "Connecting the pins of ${KIND_TOP}")

  # Warnings of Verilator are shown. They are errors if the user asks for all of them.
  if(NOT "-Wall" IN_LIST arguments)
    list(APPEND arguments -Wno-fatal)
  endif()
  verilate(${target}_rtl PREFIX ${prefix} TOP ${KIND_TOP} SOURCES ${sources} DEPENDS ${included} ${glue}
    ARGUMENTS -O3 --x-assign fast --x-initial fast --assert --trace ${arguments})
  target_compile_options(${target}_rtl PRIVATE -O2)
  # It becomes a part of a shared library, here or in a plugin.
  set_target_properties(${target}_rtl PROPERTIES POSITION_INDEPENDENT_CODE ON)
  set(${out} ${glue} PARENT_SCOPE)
endfunction()

# The same as a static library NAME_kind, for programs of the tree that are to know the kind
function(oae_vp_add_rtl_library name)
  oae_vp_verilate_kind(source ${name} ${ARGN})
  add_library(${name}_kind STATIC ${source})
  target_link_libraries(${name}_kind PUBLIC axi PRIVATE ${name}_kind_rtl verilated)
endfunction()

function(oae_vp_add_rtl_kind name)
  if(COMMAND add_kind)
    oae_vp_add_rtl_library(${name} ${ARGN})
    add_kind(${name}_kind)
  else()
    oae_vp_verilate_kind(source ${name} ${ARGN})
    oae_vp_add_plugin(${name}_kind ${source})
    target_link_libraries(${name}_kind PRIVATE ${name}_kind_rtl)
  endif()
endfunction()
