#include "msl/reach.hpp"

#include <set>

#include "msl/kernels.hpp"

namespace kfp::msl {

Reach::Reach(const Program& program) : program_(program) {
    for (const Function& function : program.functions) {
        if (function.defined) {
            const Range text{function.parameters.begin, function.body.end};
            if (function.name == none) {
                unnamed_.push_back(text);
            } else {
                by_name_.emplace(program.token(function.name).text, text);
            }
        }
    }
    for (const Declaration& declaration : program.declarations) {
        if (declaration.function != none) {
            continue;
        }
        for (const Range declarator : split_declaration(program, declaration.tokens).list) {
            if (const Index name = declared_name(program, declarator); name != none) {
                by_name_.emplace(program.token(name).text, declarator);
            }
        }
    }
}

void Reach::from(Index function, const std::function<void(Index)>& visit) const {
    std::set<Index> seen;
    std::vector<Range> open = unnamed_;
    const Function& start = program_.functions[function];
    open.push_back({start.parameters.begin, start.body.end});
    while (!open.empty()) {
        const Range text = open.back();
        open.pop_back();
        if (!seen.insert(text.begin).second) {
            continue;
        }
        for (Index i = text.begin; i < text.end; ++i) {
            if (const AttributeGroup* group = program_.group_at(i)) {
                i = group->range.end - 1;
            } else if (program_.token(i).is_identifier()) {
                visit(i);
                const auto [first, last] = by_name_.equal_range(program_.token(i).text);
                for (auto at = first; at != last; ++at) {
                    open.push_back(at->second);
                }
            }
        }
    }
}

}  // namespace kfp::msl
