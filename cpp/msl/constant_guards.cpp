#include "msl/constant_guards.hpp"

#include <string>

#include "msl/kernels.hpp"
#include "msl/methods.hpp"

namespace kfp::msl {
namespace {

class Finder {
public:
    explicit Finder(const Program& program) : program_(program) {
        for (const Function& function : program.functions) {
            if (function.name != none) {
                by_name_.emplace(program.token(function.name).text, &function);
            }
        }
    }

    std::map<Index, ConstantGuard> run() {
        std::map<Index, ConstantGuard> result;
        for (const Function& function : program_.functions) {
            if (!is_guardable(function)) {
                continue;
            }
            ConstantGuard guard{&function, {}, {function.parameters.end + 1, function.body.begin - 1}};
            const std::vector<Range> parameters = split_at_commas(program_, function.parameters);
            for (std::size_t p = 0; p < parameters.size(); ++p) {
                const Index word = constant_of(parameters[p]);
                if (word != none && others_name_a_space(function, p, parameters.size())) {
                    guard.words.push_back(word);
                }
            }
            if (!guard.words.empty()) {
                result.emplace(function.body.end, std::move(guard));
            }
        }
        return result;
    }

private:
    bool is(Index i, std::string_view text) const { return program_.is(i, text); }

    bool contains(Range range, std::string_view text) const {
        for (Index i = range.begin; i < range.end; ++i) {
            if (is(i, text)) {
                return true;
            }
        }
        return false;
    }

    bool is_guardable(const Function& function) const {
        const bool member = program_.scopes[function.scope].kind == ScopeKind::record;
        const bool specialization = function.is_template && is(function.head.begin - 2, "<");
        return function.defined && !function.is_kernel && function.name != none && function.name + 1 == function.parameters.begin - 1 &&
               callee_begin(program_, function) == function.name && !specialization && !function.is_explicit_instantiation &&
               !(function.name > 0 && is(function.name - 1, "::")) &&
               (!member || contains({function.head.begin, function.name}, "static")) && !contains({function.head.begin, function.name}, "friend");
    }

    // The word, where the parameter points or refers to constant memory.
    Index constant_of(Range parameter) const {
        Index word = none;
        bool indirect = false;
        for (Index i = parameter.begin; i < parameter.end && !is(i, "="); ++i) {
            if (is(i, "constant")) {
                if (word != none) {
                    return none;
                }
                word = i;
            }
            indirect = indirect || is(i, "*") || is(i, "&") || is(i, "[");
        }
        return indirect ? word : none;
    }

    // Does no overload of the function take device memory there?
    bool others_name_a_space(const Function& function, std::size_t p, std::size_t count) const {
        const auto [first, last] = by_name_.equal_range(program_.token(function.name).text);
        for (auto at = first; at != last; ++at) {
            const std::vector<Range> parameters = split_at_commas(program_, at->second->parameters);
            if (parameters.size() == count && !contains(parameters[p], "constant") && !contains(parameters[p], "thread") &&
                !contains(parameters[p], "threadgroup")) {
                return false;
            }
        }
        return true;
    }

    const Program& program_;
    std::multimap<std::string, const Function*> by_name_;
};

}  // namespace

std::map<Index, ConstantGuard> find_constant_guards(const Program& program) {
    return program.balanced ? Finder(program).run() : std::map<Index, ConstantGuard>{};
}

}  // namespace kfp::msl
