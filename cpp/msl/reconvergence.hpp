// Where the lanes of a simdgroup meet again after they took different ways through the body of a loop.
#pragma once

#include <map>
#include <set>
#include <string>

#include "msl/structure.hpp"

namespace kfp::msl {

// What the rewriter writes so that every iteration ends in an exchange.
struct Reconvergence {
    std::map<Index, std::string> before;  // text before these tokens
    std::set<Index> while_as_for;         // `while`, to be written as `for`, whose third part `continue` doesn't skip
};

// The runtime tells the simdgroup operations of a kernel by their place in the code. That can't tell a lane which is an
// iteration ahead: it would take part in an operation together with lanes of the iteration before. So the iterations of
// every loop end in an exchange, if some of its simdgroup operations may be passed by.
Reconvergence find_reconvergence(const Program& program);

}  // namespace kfp::msl
