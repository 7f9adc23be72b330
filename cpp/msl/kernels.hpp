// The signature reader: which kernels a program has, what each parameter is bound to, and what a kernel can reach.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "msl/structure.hpp"

namespace kfp::msl {

// A `threadgroup` variable of a kernel: one declarator of a declaration in its body.
struct ThreadgroupVariable {
    Index function = none;
    Range declaration;   // the whole statement, ';' excluded
    Range specifiers;    // what comes before the declarators
    Range declarator;    // name and array bounds
    Index name = none;
    Index number = 0;    // within its kernel function
};

struct Kernel {
    KernelInfo info;
    Index function = none;   // index into Program::functions; of a template, the template itself
    Index name_token = none; // where a diagnostic about this kernel points
    std::string callee;      // the expression that names it: ::ns::f<float>
    bool synchronises = false;
    std::set<Index> constants;     // the function constants it uses, by index into Kernels::constants
    bool tests_constants = false;  // whether it asks which of them are defined
    std::vector<Range> parameter_ranges;  // one per info.parameters
};

struct FunctionConstantVariable {
    Index name = none;
    std::uint32_t index = 0;
    Range type;
    Index scope = 0;
};

struct Kernels {
    std::vector<Kernel> kernels;
    std::vector<ThreadgroupVariable> variables;
    std::vector<FunctionConstantVariable> constants;
};

// Reports what is wrong with the signatures themselves.
Kernels read_kernels(const Program& program, Diagnostics& diagnostics);

// What comes before the first declarator of a declaration, and the declarators, split at commas.
struct Declarators {
    Range specifiers;
    std::vector<Range> list;
};
Declarators split_declaration(const Program& program, Range declaration);
std::vector<Range> split_at_commas(const Program& program, Range range);
// The identifier that a declarator declares: `x` of `x[2]`, `*x`, `(&x)[4]`; `none` if there is none.
Index declared_name(const Program& program, Range declarator);

}  // namespace kfp::msl
