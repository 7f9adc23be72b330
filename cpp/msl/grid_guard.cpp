#include "msl/grid_guard.hpp"

#include <cctype>
#include <map>
#include <optional>

namespace kfp::msl {
namespace {

class Reader {
public:
    Reader(const Program& program, const Kernel& kernel, const std::set<std::string, std::less<>>& constants)
        : program_(program), body_(program.functions[kernel.function].body), constants_(constants) {
        for (const Parameter& parameter : kernel.info.parameters) {
            if (parameter.kind == ParameterKind::input && parameter.attribute == "thread_position_in_grid") {
                const std::string type = parameter.type.substr(parameter.type.find("const ") == 0 ? 6 : 0);
                if (type == "uint") {
                    axes_[parameter.name] = 0;
                } else if (type == "uint2" || type == "uint3") {
                    vectors_.insert(parameter.name);
                }
            }
        }
    }

    GridGuard run() {
        Index i = body_.begin;
        while (i < body_.end) {
            const std::optional<Index> past = is(i, "if") ? read_guard(i) : read_coordinates(i);
            if (!past) {
                break;
            }
            i = *past;
        }
        return found_;
    }

private:
    using Bounds = std::vector<std::pair<unsigned, Range>>;

    bool is(Index i, std::string_view text) const { return i < body_.end && program_.is(i, text); }
    const std::string& text(Index i) const { return program_.token(i).text; }

    // A coordinate at `i`; its axis, and `i` past it.
    std::optional<unsigned> coordinate(Index& i) const {
        if (i >= body_.end || !program_.token(i).is_identifier()) {
            return std::nullopt;
        }
        if (const auto found = axes_.find(text(i)); found != axes_.end()) {
            ++i;
            return found->second;
        }
        if (vectors_.count(text(i)) != 0 && is(i + 1, ".") && i + 2 < body_.end) {
            const std::string& component = text(i + 2);
            if (component == "x" || component == "y" || component == "z") {
                i += 3;
                return static_cast<unsigned>(component[0] - 'x');
            }
        }
        return std::nullopt;
    }

    // uint i = gid.x, j = gid.y;
    std::optional<Index> read_coordinates(Index i) {
        i += is(i, "const") ? 1 : 0;
        if (!is(i, "uint")) {
            return std::nullopt;
        }
        do {
            ++i;
            if (i + 1 >= body_.end || !program_.token(i).is_identifier() || !is(i + 1, "=")) {
                return std::nullopt;
            }
            const std::string& name = text(i);
            i += 2;
            const std::optional<unsigned> axis = coordinate(i);
            if (!axis) {
                return std::nullopt;
            }
            axes_[name] = *axis;
        } while (is(i, ","));
        return is(i, ";") ? std::optional(i + 1) : std::nullopt;
    }

    std::optional<Index> read_guard(Index i) {
        if (!is(i + 1, "(")) {
            return std::nullopt;
        }
        const Index open = i + 1;
        const Index close = program_.match[open];
        Bounds bounds;
        if (!read_condition({open + 1, close}, bounds)) {
            return std::nullopt;
        }
        Index past = close + 1;
        const bool braced = is(past, "{");
        past += braced ? 1 : 0;
        if (!is(past, "return") || !is(past + 1, ";") || (braced && !is(past + 2, "}"))) {
            return std::nullopt;
        }
        past += braced ? 3 : 2;
        if (is(past, "else")) {
            return std::nullopt;
        }
        for (const auto& [axis, bound] : bounds) {
            found_.bounds[axis].push_back(bound);
        }
        found_.open.push_back(open);
        return past;
    }

    bool read_condition(Range range, Bounds& bounds) const {
        Index begin = range.begin;
        for (Index i = range.begin; i <= range.end; ++i) {
            if (i == range.end || is(i, "||") || is(i, "or")) {
                if (!read_term({begin, i}, bounds)) {
                    return false;
                }
                begin = i + 1;
            } else if (program_.match[i] != none && program_.match[i] > i) {
                i = program_.match[i];
            }
        }
        return true;
    }

    // A coordinate, `>=` and a bound.
    bool read_term(Range range, Bounds& bounds) const {
        while (range.begin < range.end && is(range.begin, "(") && program_.match[range.begin] + 1 == range.end) {
            ++range.begin;
            --range.end;
        }
        Index i = range.begin;
        const std::optional<unsigned> axis = coordinate(i);
        if (!axis || !is(i, ">=") || !is_constant({i + 1, range.end})) {
            return false;
        }
        bounds.emplace_back(*axis, Range{i + 1, range.end});
        return true;
    }

    // An expression that has no effect and the same value for every thread.
    bool is_constant(Range range) const {
        for (Index i = range.begin; i < range.end; ++i) {
            const Token& t = program_.token(i);
            const bool is_operator = t.is("+") || t.is("-") || t.is("*") || t.is("(") || t.is(")");
            const bool is_number = !t.text.empty() && std::isdigit(static_cast<unsigned char>(t.text[0])) != 0;
            if (!is_operator && !is_number && constants_.count(t.text) == 0) {
                return false;
            }
        }
        return !range.empty();
    }

    const Program& program_;
    const Range body_;
    const std::set<std::string, std::less<>>& constants_;
    std::map<std::string, unsigned, std::less<>> axes_;
    std::set<std::string, std::less<>> vectors_;
    GridGuard found_;
};

}  // namespace

GridGuard find_grid_guard(const Program& program, const Kernel& kernel, const std::set<std::string, std::less<>>& constants) {
    return Reader(program, kernel, constants).run();
}

}  // namespace kfp::msl
