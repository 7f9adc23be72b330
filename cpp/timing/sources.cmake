set(KFP_TIMING_SOURCES
  cpp/timing/sample_loop.cpp
)
