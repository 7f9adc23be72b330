set(KFP_WORKER_SOURCES
  cpp/worker/confine.cpp
)
if(CMAKE_SYSTEM_NAME STREQUAL "Linux")
  list(APPEND KFP_WORKER_SOURCES
    cpp/worker/confine_linux.cpp
    cpp/worker/filter_linux.cpp
    cpp/worker/landlock_linux.cpp
  )
else()
  list(APPEND KFP_WORKER_SOURCES cpp/worker/confine_macos.cpp)
endif()
