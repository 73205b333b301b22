# longhaul_component(NAME [PATH folder] SOURCES ... [DEPS component...] [LIBS target...])
#
# A component is a static library that may include its own folder and the folders of its DEPS (and of theirs), nothing
# else: its include path is a directory of links to exactly those folders, so a forbidden include is "no such file".
# The links live outside the preset's build directory because they are the same for all of them.
#
# longhaul_program(NAME SOURCES ... DEPS ...) and longhaul_test(NAME LABEL unit|lab SOURCES ... DEPS ...) follow the same rule.

set(LONGHAUL_INCLUDE_ROOT ${CMAKE_SOURCE_DIR}/build/include)

add_library(longhaul_options INTERFACE)
target_compile_options(longhaul_options INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wnon-virtual-dtor -Woverloaded-virtual -Werror -fdiagnostics-color=always)
# Designated initialisers leave members at their defaults on purpose.
target_compile_options(longhaul_options INTERFACE -Wno-missing-field-initializers)
# GCC 12 reports false positives of these three inside the standard library when it optimises.
target_compile_options(longhaul_options INTERFACE -Wno-error=restrict -Wno-error=maybe-uninitialized -Wno-error=dangling-pointer)
# Clang is there for what GCC has not, fuzzers: what warrants an error is GCC's to say.
if(CMAKE_CXX_COMPILER_ID MATCHES Clang)
  target_compile_options(longhaul_options INTERFACE -Wno-error -Wno-unknown-warning-option)
endif()
# Files are compiled in batches (preset release): GCC takes all but the first file of a batch for a header, whose unnamed
# namespaces would be a mistake.
if(CMAKE_UNITY_BUILD)
  target_compile_options(longhaul_options INTERFACE -Wno-subobject-linkage)
endif()
target_compile_definitions(longhaul_options INTERFACE SPDLOG_FMT_EXTERNAL BOOST_ASIO_NO_DEPRECATED BOOST_ASIO_SEPARATE_COMPILATION)
target_link_libraries(longhaul_options INTERFACE Threads::Threads)
find_program(LLD ld.lld)
if(LLD)
  target_link_options(longhaul_options INTERFACE -fuse-ld=lld)
endif()

set(LONGHAUL_SANITIZE "" CACHE STRING "address,undefined or thread; fuzzer-no-link besides makes fuzzers of tests/fuzz")
if(LONGHAUL_SANITIZE)
  target_compile_options(longhaul_options INTERFACE -fsanitize=${LONGHAUL_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(longhaul_options INTERFACE -fsanitize=${LONGHAUL_SANITIZE})
  if(CMAKE_CXX_COMPILER_ID MATCHES Clang)
    target_compile_options(longhaul_options INTERFACE -fno-sanitize=function)  # clang 14 cannot have it together with coroutines
  endif()
  if(LONGHAUL_SANITIZE STREQUAL "thread")
    target_compile_options(longhaul_options INTERFACE -Wno-tsan)  # a fence orders what an adapter wrote, which is no thread
  endif()
endif()

# The folders that `name` may include: its own and, through its DEPS, theirs.
function(_longhaul_closure out)
  set(paths "")
  foreach(dep IN LISTS ARGN)
    get_property(dep_paths GLOBAL PROPERTY longhaul_paths_${dep})
    if(NOT dep_paths)
      message(FATAL_ERROR "unknown component '${dep}' (is it added before its user?)")
    endif()
    list(APPEND paths ${dep_paths})
  endforeach()
  list(REMOVE_DUPLICATES paths)
  set(${out} ${paths} PARENT_SCOPE)
endfunction()

function(_longhaul_includes target name)
  set(root ${LONGHAUL_INCLUDE_ROOT}/${name})
  file(MAKE_DIRECTORY ${root})
  set(paths ${ARGN})
  list(SORT paths)
  set(linked "")
  foreach(path IN LISTS paths)
    # A folder inside one that is linked already comes with it.
    set(covered FALSE)
    foreach(parent IN LISTS linked)
      if(path MATCHES "^${parent}/")
        set(covered TRUE)
      endif()
    endforeach()
    if(NOT covered)
      list(APPEND linked ${path})
    endif()
  endforeach()
  # What an older configuration allowed and this one does not: first, since a folder may stand where a link was.
  file(GLOB_RECURSE present LIST_DIRECTORIES true RELATIVE ${root} ${root}/*)
  foreach(path IN LISTS present)
    if(IS_SYMLINK ${root}/${path} AND NOT path IN_LIST linked)
      file(REMOVE ${root}/${path})
    endif()
  endforeach()
  foreach(path IN LISTS linked)
    # Never replaced when it is there: another preset's compiler may be reading through it.
    if(NOT IS_SYMLINK ${root}/${path})
      get_filename_component(folder ${root}/${path} DIRECTORY)
      file(MAKE_DIRECTORY ${folder})
      file(CREATE_LINK ${CMAKE_SOURCE_DIR}/${path} ${root}/${path} SYMBOLIC)
    endif()
  endforeach()
  target_include_directories(${target} PRIVATE ${root})
endfunction()

function(_longhaul_link target)
  list(TRANSFORM ARGN PREPEND longhaul_ OUTPUT_VARIABLE libs)
  target_link_libraries(${target} PUBLIC ${libs} longhaul_options)
endfunction()

function(longhaul_component name)
  cmake_parse_arguments(ARG "" "PATH" "SOURCES;DEPS;LIBS" ${ARGN})
  if(NOT ARG_PATH)
    set(ARG_PATH ${name})
  endif()
  add_library(longhaul_${name} STATIC ${ARG_SOURCES})
  _longhaul_closure(paths ${ARG_DEPS})
  list(APPEND paths ${ARG_PATH})
  list(REMOVE_DUPLICATES paths)
  set_property(GLOBAL PROPERTY longhaul_paths_${name} ${paths})
  _longhaul_includes(longhaul_${name} ${name} ${paths})
  _longhaul_link(longhaul_${name} ${ARG_DEPS})
  target_link_libraries(longhaul_${name} PUBLIC ${ARG_LIBS})
  list(JOIN ARG_DEPS " " deps)
  set_property(GLOBAL APPEND PROPERTY longhaul_components "${name} ${ARG_PATH} ${deps}")
endfunction()

# NAME PATH DEPS of each component, a line each, in the build directory: tests/architecture compares docs/architecture.md with it.
function(longhaul_list_components)
  get_property(all GLOBAL PROPERTY longhaul_components)
  list(JOIN all "\n" text)
  file(WRITE ${CMAKE_BINARY_DIR}/components.txt "${text}\n")
endfunction()

function(longhaul_program name)
  cmake_parse_arguments(ARG "" "PATH" "SOURCES;DEPS;LIBS" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  _longhaul_closure(paths ${ARG_DEPS})
  list(APPEND paths ${ARG_PATH})
  _longhaul_includes(${name} program-${name} ${paths})
  _longhaul_link(${name} ${ARG_DEPS})
  target_link_libraries(${name} PRIVATE ${ARG_LIBS})
endfunction()

# Tests may include anything of the tree; what they link is what they list.
function(longhaul_test name)
  cmake_parse_arguments(ARG "" "LABEL;TIMEOUT" "SOURCES;DEPS;LIBS" ${ARGN})
  if(NOT ARG_LABEL)
    set(ARG_LABEL unit)
  endif()
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 120)
  endif()
  if(LONGHAUL_SANITIZE)
    math(EXPR ARG_TIMEOUT "5 * ${ARG_TIMEOUT}")
  endif()
  add_executable(test_${name} ${ARG_SOURCES})
  target_include_directories(test_${name} PRIVATE ${CMAKE_SOURCE_DIR})
  _longhaul_link(test_${name} ${ARG_DEPS})
  target_link_libraries(test_${name} PRIVATE gmock gtest_main gtest ${ARG_LIBS})
  target_compile_definitions(test_${name} PRIVATE LONGHAUL_SOURCE_DIR="${CMAKE_SOURCE_DIR}" LONGHAUL_BINARY_DIR="${CMAKE_BINARY_DIR}")
  # A test's time goes into compiling it: without optimisation that is a quarter less.
  target_compile_options(test_${name} PRIVATE $<$<CONFIG:Release>:-O0>)
  add_test(NAME ${name} COMMAND test_${name})
  set_tests_properties(${name} PROPERTIES LABELS ${ARG_LABEL} TIMEOUT ${ARG_TIMEOUT})
endfunction()
