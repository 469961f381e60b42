# One room of the house = one static library.
#   evenkeel_room(router_sql SOURCES lexer.cc parser.cc DEPS evenkeel::base)
# Tests live beside the room, in its tests/ folder or as *_test.cc:
#   evenkeel_test(router_sql SOURCES tests/lexer_test.cc DEPS evenkeel::router_sql)
# Fuzz targets (built only with the fuzz preset; corpus replayed as an ordinary test elsewhere):
#   evenkeel_fuzz(lexer SOURCE fuzz/lexer_fuzz.cc CORPUS fuzz/corpus/lexer DEPS evenkeel::router_sql)

set(EVENKEEL_TEST_SECONDS 300 CACHE STRING "After how many seconds a test program counts as hung")
set(EVENKEEL_WARNINGS
  -Wall -Wextra -Werror -Wshadow -Wnon-virtual-dtor -Woverloaded-virtual -Wimplicit-fallthrough -Wcast-qual)

function(evenkeel_room name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPS" ${ARGN})
  add_library(evenkeel_${name} STATIC ${ARG_SOURCES})
  add_library(evenkeel::${name} ALIAS evenkeel_${name})
  target_include_directories(evenkeel_${name} PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>)
  target_compile_options(evenkeel_${name} PRIVATE ${EVENKEEL_WARNINGS})
  target_link_libraries(evenkeel_${name} PUBLIC ${ARG_DEPS})
endfunction()

# Makes a room part of the library that is installed for other programs (docs/library.md): position independent, so
# that the C interface's shared library can hold it, and exported as evenkeel::<AS>.
#   evenkeel_install_room(base COMPONENT idgen AS base HEADERS clock.h error.h)
function(evenkeel_install_room name)
  cmake_parse_arguments(ARG "" "COMPONENT;AS" "HEADERS" ${ARGN})
  set_target_properties(evenkeel_${name} PROPERTIES POSITION_INDEPENDENT_CODE ON EXPORT_NAME ${ARG_AS})
  # The program links these rooms too: its calls within them must not become calls through a table.
  target_compile_options(evenkeel_${name} PRIVATE -fno-semantic-interposition)
  target_compile_features(evenkeel_${name} PUBLIC cxx_std_20)
  target_include_directories(evenkeel_${name} INTERFACE $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/evenkeel>)
  install(TARGETS evenkeel_${name} EXPORT evenkeel_${ARG_COMPONENT}
    ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT ${ARG_COMPONENT})
  evenkeel_install_headers(${ARG_COMPONENT} ${ARG_HEADERS})
  set_property(GLOBAL APPEND PROPERTY EVENKEEL_INSTALLED_TARGETS evenkeel_${name})
endfunction()

function(evenkeel_install_headers component)
  foreach(header ${ARGN})
    cmake_path(RELATIVE_PATH CMAKE_CURRENT_SOURCE_DIR BASE_DIRECTORY ${PROJECT_SOURCE_DIR} OUTPUT_VARIABLE room)
    cmake_path(GET header PARENT_PATH folder)
    install(FILES ${header} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/evenkeel/${room}/${folder} COMPONENT ${component})
  endforeach()
endfunction()

function(evenkeel_test name)
  cmake_parse_arguments(ARG "" "LABEL" "SOURCES;DEPS" ${ARGN})
  add_executable(${name}_test ${ARG_SOURCES})
  target_compile_options(${name}_test PRIVATE ${EVENKEEL_WARNINGS})
  target_link_libraries(${name}_test PRIVATE ${ARG_DEPS} GTest::gmock GTest::gtest_main)
  add_test(NAME ${name} COMMAND ${name}_test WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
  if(NOT ARG_LABEL)
    set(ARG_LABEL unit)
  endif()
  set_tests_properties(${name} PROPERTIES LABELS ${ARG_LABEL} TIMEOUT ${EVENKEEL_TEST_SECONDS})
endfunction()

function(evenkeel_fuzz name)
  cmake_parse_arguments(ARG "" "SOURCE;CORPUS" "DEPS" ${ARGN})
  add_executable(fuzz_${name} ${ARG_SOURCE})
  target_compile_options(fuzz_${name} PRIVATE ${EVENKEEL_WARNINGS})
  target_link_libraries(fuzz_${name} PRIVATE ${ARG_DEPS})
  if(EVENKEEL_FUZZ)
    target_compile_options(fuzz_${name} PRIVATE -fsanitize=fuzzer)
    target_link_options(fuzz_${name} PRIVATE -fsanitize=fuzzer)
  else()
    target_sources(fuzz_${name} PRIVATE ${PROJECT_SOURCE_DIR}/tests/fuzz_replay_main.cc)
    add_test(NAME fuzz_${name}_corpus COMMAND fuzz_${name} ${CMAKE_CURRENT_SOURCE_DIR}/${ARG_CORPUS})
    set_tests_properties(fuzz_${name}_corpus PROPERTIES LABELS unit TIMEOUT 60)
  endif()
endfunction()
