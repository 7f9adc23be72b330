// A plan as lines of words, written by plan_file.py:
//   kernel NAME
//   buffer NAME ROLE BYTES CONTENTS_OFFSET
//   dispatch KERNEL GRID_X GRID_Y GRID_Z THREADGROUP_X THREADGROUP_Y THREADGROUP_Z
//   bind buffer INDEX BUFFER OFFSET | bind bytes INDEX HEX | bind threadgroup INDEX BYTES     (of the last dispatch)
#pragma once

#include <string>

#include "device/plan.hpp"

namespace kfp {

Plan read_plan(const std::string& path);

}  // namespace kfp
