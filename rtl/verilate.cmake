# SPDX-License-Identifier: Apache-2.0
# Runs Verilator into DIR and makes one source file, DIR/PREFIX.all.cpp, of what it writes, since the
# names of its own files are not known beforehand. Script mode: cmake -DVERILATOR=... -P; the
# arguments of Verilator are the list ARGUMENTS.
file(REMOVE_RECURSE ${DIR})
file(MAKE_DIRECTORY ${DIR})
execute_process(COMMAND ${VERILATOR} --cc --Mdir ${DIR} --prefix ${PREFIX} ${ARGUMENTS}
  RESULT_VARIABLE result)
if(result)
  message(FATAL_ERROR "Verilator failed")
endif()
file(GLOB sources ${DIR}/${PREFIX}*.cpp)
list(TRANSFORM sources REPLACE "(.+)" "#include \"\\1\"")
list(JOIN sources "\n" content)
file(WRITE ${DIR}/${PREFIX}.all.cpp "${content}\n")
