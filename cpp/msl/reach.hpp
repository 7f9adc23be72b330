// What a function may reach, over names: every function, constructor, operator and program-scope variable that its text
// could mean is followed.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "msl/structure.hpp"

namespace kfp::msl {

class Reach {
public:
    explicit Reach(const Program& program);

    // Calls `visit` with every identifier that can be reached from the function, attributes left out.
    void from(Index function, const std::function<void(Index)>& visit) const;

private:
    const Program& program_;
    std::multimap<std::string, Range, std::less<>> by_name_;
    std::vector<Range> unnamed_;
};

}  // namespace kfp::msl
