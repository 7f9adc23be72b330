// Where the lanes of a simdgroup meet again after they took different ways through the body of a loop.
#pragma once

#include <map>
#include <set>
#include <string>

#include "msl/structure.hpp"

namespace kfp::msl {

struct Reconvergence {
    std::map<Index, std::string> before;            // text before these tokens
    std::set<Index> while_as_for;                   // `while`, to be `for`, whose third part `continue` doesn't skip
    std::set<std::string, std::less<>> exchanging;  // functions that reach a simdgroup operation, and so must be in line
};

// The runtime tells the simdgroup operations of a kernel by their place in the code. That can't tell a lane which is an
// iteration ahead: it would take part in an operation together with lanes of the iteration before. So the iterations of
// every loop end in an exchange, if some of its simdgroup operations may be passed by. Nor can it tell two calls of a
// function that has operations of its own.
Reconvergence find_reconvergence(const Program& program);

}  // namespace kfp::msl
