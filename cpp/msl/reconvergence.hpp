// Where the lanes of a simdgroup meet again after they took different ways.
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

// The runtime tells the simdgroup operations of a kernel by their place in the code, and can't tell from it which lanes
// are still to come. So lanes meet behind every statement with simdgroup operations that may have parted them, and, in
// loops with operations that some lanes pass by, at the end of every iteration. A meeting is named by how deep it is
// nested: whoever is further in goes first. Where every lane goes the same way by the look of the text, and where nothing
// follows that lanes do together, there is none.
Reconvergence find_reconvergence(const Program& program);

}  // namespace kfp::msl
