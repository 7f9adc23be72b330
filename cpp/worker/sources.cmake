set(KFP_WORKER_SOURCES
  cpp/worker/channel.cpp
  cpp/worker/confine.cpp
  cpp/worker/host.cpp
  cpp/worker/protocol.cpp
  cpp/worker/server.cpp
  cpp/worker/shared_memory.cpp
  cpp/worker/spawn.cpp
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
