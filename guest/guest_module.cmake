# SPDX-License-Identifier: Apache-2.0
# Modules of the guest's kernel, in the tree and in the CMake package of oae-vp.
#
# guest_module(NAME SOURCES FILE... [UAPI FILE...] [KERNEL FOLDER] [ALSO NAME...] [USES NAME...]) builds NAME.ko: for the
# guest's kernel in the current build folder, for a further kernel in a folder in it that has the kernel's name. ALSO names
# the other modules that the same Kbuild builds, and USES modules whose exported functions this one calls. Those are built for the
# same kernel, by a guest_module() that comes before.
# A kernel builds a module where its sources are, so they are copied. Its own time decides what is built again, so the
# module is written only after a build that worked. A kernel that was fetched again starts afresh: it may come with other
# options, which the kernel's makefiles do not notice.
function(guest_module name)
  cmake_parse_arguments(MODULE "" "KERNEL" "SOURCES;UAPI;ALSO;USES" ${ARGN})
  set(output ${CMAKE_CURRENT_BINARY_DIR})
  set(headers ${OAE_VP_HEADERS})
  set(options)
  set(kernel)
  set(kernel_name)
  set(start_afresh)
  if(MODULE_KERNEL)
    get_filename_component(kernel_name ${MODULE_KERNEL} NAME)
    set(output ${output}/${kernel_name})
    set(headers ${MODULE_KERNEL}/headers)
    file(STRINGS ${MODULE_KERNEL}/options options)
    set(kernel ${MODULE_KERNEL}/options)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${kernel})
    set(start_afresh COMMAND sh -c "test ${output}/${name}.ko -nt ${kernel} || rm -rf ${output}/module")
  endif()
  set(folder ${output}/module)
  set_property(GLOBAL PROPERTY GUEST_MODULE_${name}_${kernel_name} ${output})
  set(used)
  set(symbols)
  foreach(one ${MODULE_USES})
    get_property(built GLOBAL PROPERTY GUEST_MODULE_${one}_${kernel_name})
    if(NOT built)
      message(FATAL_ERROR "${name} uses ${one}, which is not built before it for the same kernel: call guest_module(${one} ...) first")
    endif()
    list(APPEND used ${built}/${one}.ko)
    list(APPEND symbols ${built}/module/Module.symvers)
  endforeach()
  if(symbols)
    list(JOIN symbols " " symbols)
    set(symbols "KBUILD_EXTRA_SYMBOLS=${symbols}")
  endif()
  set(copy ${CMAKE_COMMAND} -E copy_if_different)
  set(copy_uapi)
  if(MODULE_UAPI)
    set(copy_uapi COMMAND ${copy} ${MODULE_UAPI} ${folder}/include/uapi/linux)
  endif()
  set(modules)
  set(strip)
  foreach(one ${name} ${MODULE_ALSO})
    list(APPEND modules ${output}/${one}.ko)
    # The build id is a hash of debug information that names the build folder.
    list(APPEND strip COMMAND ${CMAKE_STRIP} --strip-debug --remove-section=.note.gnu.build-id -o ${output}/${one}.ko
                      ${folder}/${one}.ko)
  endforeach()
  set_property(GLOBAL APPEND PROPERTY GUEST_FILES ${modules})
  add_custom_command(
    OUTPUT ${modules}
    ${start_afresh}
    COMMAND ${CMAKE_COMMAND} -E make_directory ${folder}/include/uapi/linux
    COMMAND ${copy} ${MODULE_SOURCES} ${folder}
    ${copy_uapi}
    # A warning names the file in which it is, and equal sources shall make equal bytes wherever they are built.
    COMMAND env -u MAKEFLAGS make -s -C ${headers} M=${folder} W=1 KCFLAGS=-fmacro-prefix-map=${folder}/= ${options} ${symbols}
            modules
    ${strip}
    DEPENDS ${MODULE_SOURCES} ${MODULE_UAPI} ${kernel} ${used}
    COMMENT "Building ${name} against ${headers}"
    VERBATIM)
endfunction()

# oae_vp_add_guest_module(NAME SOURCE...): NAME.ko for the guest's kernel, in the current build folder. One of the sources is the
# Kbuild file. A folder's CMakeLists.txt builds one module. For projects outside of the tree.
function(oae_vp_add_guest_module name)
  if(NOT EXISTS ${OAE_VP_HEADERS}/Makefile)
    message(FATAL_ERROR "The headers of the guest's kernel are not in '${OAE_VP_HEADERS}'. scripts/setup of oae-vp installs them "
                        "(Debian: linux-headers-cloud-amd64); -DOAE_VP_HEADERS=FOLDER names another folder.")
  endif()
  get_property(other DIRECTORY PROPERTY OAE_VP_GUEST_MODULE)
  if(other)
    message(FATAL_ERROR "${name} and ${other} would be built in the same folder, where each has its Kbuild file. "
                        "Give each a CMakeLists.txt of its own, in a folder that add_subdirectory() adds.")
  endif()
  set_property(DIRECTORY PROPERTY OAE_VP_GUEST_MODULE ${name})
  set(sources)
  foreach(source ${ARGN})
    get_filename_component(source ${source} ABSOLUTE)
    list(APPEND sources ${source})
  endforeach()
  guest_module(${name} SOURCES ${sources})
  add_custom_target(${name} ALL DEPENDS ${CMAKE_CURRENT_BINARY_DIR}/${name}.ko)
endfunction()
