#include "msl/reconvergence.hpp"

#include <string_view>
#include <vector>

namespace kfp::msl {
namespace {

constexpr unsigned max_depth = 500;  // of statements in statements
constexpr std::string_view meeting = "::__kfp::reconverge()";

bool starts_with(std::string_view text, std::string_view prefix) { return text.substr(0, prefix.size()) == prefix; }

class Finder {
public:
    explicit Finder(const Program& program) : program_(program) {}

    Reconvergence run() {
        if (!program_.balanced) {
            return {};
        }
        find_exchanging_functions();
        for (const Function& function : program_.functions) {
            if (function.defined) {
                Body outermost;
                read_statements(function.body, outermost, false);
            }
        }
        return std::move(found_);
    }

private:
    // What is known of a loop's body.
    struct Body {
        bool passed_by = false;   // an exchange that some lanes may not come to
        bool exchanges = false;
        bool continues = false;
        bool leaves = false;      // by break; a lane that returns is waited for by nobody
        bool has_barrier = false; // in every iteration, for every lane

        bool needs_meeting() const { return (passed_by || (exchanges && continues)) && (!has_barrier || continues); }
    };

    bool is(Index i, std::string_view text) const { return program_.is(i, text); }
    const Token& token(Index i) const { return program_.token(i); }

    bool is_call(Index i) const {
        return token(i).is_identifier() && i + 1 < program_.match.size() && (is(i + 1, "(") || is(i + 1, "<"));
    }
    bool is_exchange(Index i) const {
        if (!is_call(i)) {
            return false;
        }
        const std::string& name = token(i).text;
        const bool of_library = starts_with(name, "simd_") || starts_with(name, "quad_") || starts_with(name, "simdgroup_");
        const bool is_type = name == "simd_vote" || name == "quad_vote" || starts_with(name, "simdgroup_matrix");
        return (of_library && !is_type) || found_.exchanging.count(name) != 0;
    }

    // By name: a function exchanges if any function that its body could mean does.
    void find_exchanging_functions() {
        std::multimap<std::string, std::string, std::less<>> callers;
        std::vector<std::string> open;
        for (const Function& function : program_.functions) {
            if (!function.defined || function.name == none) {
                continue;
            }
            const std::string& name = token(function.name).text;
            for (Index i = function.body.begin; i < function.body.end; ++i) {
                if (is_exchange(i)) {
                    open.push_back(name);
                } else if (is_call(i)) {
                    callers.emplace(token(i).text, name);
                }
            }
        }
        while (!open.empty()) {
            const std::string name = std::move(open.back());
            open.pop_back();
            if (!found_.exchanging.insert(name).second) {
                continue;
            }
            const auto [first, last] = callers.equal_range(name);
            for (auto caller = first; caller != last; ++caller) {
                open.push_back(caller->second);
            }
        }
    }

    void read_statements(Range range, Body& body, bool conditional) {
        for (Index i = range.begin; i < range.end;) {
            i = read_statement(i, range.end, body, conditional);
        }
    }

    // Returns the index past the statement.
    Index read_statement(Index i, Index end, Body& body, bool conditional) {
        if (i >= end) {
            return end;
        }
        if (depth_ == max_depth) {
            return read_simple(i, end, body, conditional);
        }
        ++depth_;
        const Index past = read_shallow_statement(i, end, body, conditional);
        --depth_;
        return past;
    }

    Index read_shallow_statement(Index i, Index end, Body& body, bool conditional) {
        if (const AttributeGroup* group = program_.group_at(i)) {
            return read_statement(group->range.end, end, body, conditional);
        }
        if (is(i, "{")) {
            read_statements({i + 1, program_.match[i]}, body, conditional);
            return program_.match[i] + 1;
        }
        if (is(i, "if")) {
            return read_if(i, end, body, conditional);
        }
        if (is(i, "switch") && i + 1 < end && is(i + 1, "(")) {
            const Index close = program_.match[i + 1];
            read_expression({i + 2, close}, body, conditional);
            return read_statement(close + 1, end, body, true);
        }
        if ((is(i, "for") || is(i, "while")) && i + 1 < end && is(i + 1, "(")) {
            return read_loop(i, end, body, conditional);
        }
        if (is(i, "do")) {
            return read_do(i, end, body);
        }
        if (is(i, "case") || is(i, "default")) {
            while (i < end && !is(i, ":")) {
                ++i;
            }
            return i + 1;
        }
        return read_simple(i, end, body, conditional);
    }

    Index read_if(Index i, Index end, Body& body, bool conditional) {
        bool is_static = false;
        if (i + 1 < end && is(i + 1, "constexpr")) {
            is_static = true;
            ++i;
        }
        if (i + 1 >= end || !is(i + 1, "(")) {
            return i + 1;
        }
        const Index close = program_.match[i + 1];
        read_expression({i + 2, close}, body, conditional);
        const bool inner = conditional || !is_static;
        Index next = read_statement(close + 1, end, body, inner);
        if (next < end && is(next, "else")) {
            next = read_statement(next + 1, end, body, inner);
        }
        return next;
    }

    Index read_loop(Index i, Index end, Body& outer, bool conditional) {
        const Index open = i + 1;
        const Index close = program_.match[open];
        Body body;
        Index second = open;  // the last ';' of a for's head
        if (is(i, "for")) {
            for (Index j = open + 1; j < close; ++j) {
                second = is(j, ";") ? j : second;
                j = program_.match[j] != none && program_.match[j] > j ? program_.match[j] : j;
            }
        }
        read_expression({open + 1, close}, body, false);
        const Index past = read_statement(close + 1, end, body, false);
        if (body.needs_meeting()) {
            if (is(i, "while")) {
                found_.while_as_for.insert(i);
                found_.before[open + 1] = ";";
                found_.before[close] = "; " + std::string(meeting);
            } else if (second != open) {
                found_.before[close] = (second + 1 == close ? "" : ", ") + std::string(meeting);
            }
        }
        add_to_outer(body, outer, conditional || !counts_uniformly(open, close, body));
        return past;
    }

    Index read_do(Index i, Index end, Body& outer) {
        Body body;
        const Index head = read_statement(i + 1, end, body, false);
        if (head + 1 >= end || !is(head, "while") || !is(head + 1, "(")) {
            return head;
        }
        const Index close = program_.match[head + 1];
        read_expression({head + 2, close}, body, false);
        if (body.needs_meeting()) {
            found_.before[head + 2] = std::string(meeting) + ", (";
            found_.before[close] = ")";
        }
        add_to_outer(body, outer, true);
        return close + 1;
    }

    static void add_to_outer(const Body& body, Body& outer, bool conditional) {
        outer.exchanges = outer.exchanges || body.exchanges;
        outer.passed_by = outer.passed_by || (body.exchanges && (conditional || body.passed_by));
    }

    // for (int i = 16; i > 0; i >>= 1): all lanes make the same number of rounds.
    bool counts_uniformly(Index open, Index close, const Body& body) const {
        if (body.leaves || body.continues) {
            return false;
        }
        std::string variable;
        for (Index i = open + 1; i < close; ++i) {
            if (!token(i).is_identifier()) {
                continue;
            }
            if (i + 1 < close && is(i + 1, "=") && variable.empty()) {
                variable = token(i).text;
            } else if (token(i).text != variable && !variable.empty()) {
                return false;
            }
        }
        return !variable.empty();
    }

    Index read_simple(Index i, Index end, Body& body, bool conditional) {
        Index j = i;
        for (; j < end && !is(j, ";"); ++j) {
            if (program_.match[j] != none && program_.match[j] > j) {
                j = program_.match[j];
            }
        }
        body.continues = body.continues || is(i, "continue");
        body.leaves = body.leaves || is(i, "break");
        body.has_barrier = body.has_barrier || (is(i, "threadgroup_barrier") && !conditional);
        read_expression({i, j}, body, conditional);
        return j < end ? j + 1 : j;
    }

    void read_expression(Range range, Body& body, bool conditional) {
        for (Index i = range.begin; i < range.end; ++i) {
            conditional = conditional || is(i, "?") || is(i, "&&") || is(i, "||") || is(i, "and") || is(i, "or");
            if (is_exchange(i)) {
                body.exchanges = true;
                body.passed_by = body.passed_by || conditional;
            }
        }
    }

    const Program& program_;
    Reconvergence found_;
    unsigned depth_ = 0;
};

}  // namespace

Reconvergence find_reconvergence(const Program& program) { return Finder(program).run(); }

}  // namespace kfp::msl
