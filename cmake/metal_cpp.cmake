# kfp_metal_cpp: Apple's metal-cpp headers and what to link with them. See fetch_metal_cpp.py for where they come from:
# the folder that KFP_METAL_CPP_DIR names, the one that a source distribution carries, or a pinned and checked copy.
set(KFP_METAL_CPP_DIR "$ENV{KFP_METAL_CPP_DIR}" CACHE PATH "Folder with metal-cpp's Foundation/ and Metal/")

if(NOT KFP_METAL_CPP_DIR)
  if(EXISTS "${CMAKE_CURRENT_SOURCE_DIR}/third_party/metal-cpp/Metal/Metal.hpp")
    set(KFP_METAL_CPP_DIR "${CMAKE_CURRENT_SOURCE_DIR}/third_party/metal-cpp")
  else()
    find_package(Python REQUIRED COMPONENTS Interpreter)
    set(KFP_METAL_CPP_DIR "${CMAKE_CURRENT_BINARY_DIR}/metal-cpp")
    execute_process(
      COMMAND "${Python_EXECUTABLE}" "${CMAKE_CURRENT_LIST_DIR}/fetch_metal_cpp.py" "${KFP_METAL_CPP_DIR}"
      RESULT_VARIABLE status)
    if(NOT status EQUAL 0)
      message(FATAL_ERROR "metal-cpp could not be had; see above")
    endif()
  endif()
endif()
if(NOT EXISTS "${KFP_METAL_CPP_DIR}/Metal/Metal.hpp")
  message(FATAL_ERROR "KFP_METAL_CPP_DIR: expected a folder with Metal/Metal.hpp, got '${KFP_METAL_CPP_DIR}'")
endif()

add_library(kfp_metal_cpp INTERFACE)
target_include_directories(kfp_metal_cpp SYSTEM INTERFACE "${KFP_METAL_CPP_DIR}")
target_compile_definitions(kfp_metal_cpp INTERFACE METALCPP_SYMBOL_VISIBILITY_HIDDEN)
if(APPLE)
  target_link_libraries(kfp_metal_cpp INTERFACE "SHELL:-framework Metal" "SHELL:-framework Foundation" objc)
else()
  add_subdirectory(tests/metal_standin)
  target_link_libraries(kfp_metal_cpp INTERFACE metal_standin)
endif()
