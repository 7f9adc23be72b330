#include "msl/vector_lists.hpp"

#include <algorithm>

#include "msl/kernels.hpp"
#include "msl/types.hpp"

namespace kfp::msl {
namespace {

int components(const Token& token) {
    const std::optional<VectorType> type = token.is_identifier() ? parse_vector_type(token.text) : std::nullopt;
    return type && token.text.rfind("packed_", 0) != 0 ? type->components : 1;
}

class Finder {
public:
    explicit Finder(const Program& program) : program_(program) {}

    std::map<Index, VectorList> run() {
        const Index end = static_cast<Index>(program_.stream.tokens.size()) - 1;
        for (Index i = 0; i + 1 < end; ++i) {
            if (program_.is(i + 1, "{") && is_short(i + 1, components(program_.token(i)))) {
                found_[i] = {program_.token(i).text, i + 1, false};
            }
        }
        for (const Declaration& declaration : program_.declarations) {
            look_at(declaration);
        }
        return std::move(found_);
    }

private:
    void look_at(const Declaration& declaration) {
        const Declarators parts = split_declaration(program_, declaration.tokens);
        Index type = parts.specifiers.end;
        while (type > parts.specifiers.begin && components(program_.token(type - 1)) < 2) {
            --type;
        }
        if (type == parts.specifiers.begin) {
            return;
        }
        const Token& name = program_.token(type - 1);
        for (const Range declarator : parts.list) {
            const bool assigned = declarator.begin + 1 < declarator.end && program_.is(declarator.begin + 1, "=");
            const Index brace = declarator.begin + (assigned ? 2 : 1);
            if (brace < declarator.end && program_.token(declarator.begin).is_identifier() && program_.is(brace, "{") &&
                program_.match[brace] + 1 == declarator.end && is_short(brace, components(name))) {
                found_[brace] = {name.text, brace, !assigned};
            }
        }
    }

    bool is_short(Index brace, int size) const {
        if (size < 2) {
            return false;
        }
        const std::vector<Range> elements = split_at_commas(program_, {brace + 1, program_.match[brace]});
        return !elements.empty() && elements.size() < static_cast<std::size_t>(size) &&
               std::none_of(elements.begin(), elements.end(),
                            [&](Range element) { return element.empty() || program_.is(element.begin, "{") || program_.is(element.end - 1, "..."); });
    }

    const Program& program_;
    std::map<Index, VectorList> found_;
};

}  // namespace

std::map<Index, VectorList> find_short_vector_lists(const Program& program) {
    return program.balanced ? Finder(program).run() : std::map<Index, VectorList>{};
}

}  // namespace kfp::msl
