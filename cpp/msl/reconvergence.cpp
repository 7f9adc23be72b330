#include "msl/reconvergence.hpp"

#include <algorithm>
#include <string_view>
#include <vector>

namespace kfp::msl {
namespace {

constexpr unsigned max_depth = 500;    // of statements in statements
constexpr unsigned max_call_depth = 64;  // deeper ones fall back on the order of the code
constexpr unsigned max_level = 20000;  // of statements that may part lanes, through calls too

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
                enter(function);
                Body outermost;
                read_statements(function.body, outermost, false);
            }
        }
        find_base_levels();
        for (const Insertion& insertion : insertions_) {
            std::string& text = found_.before[insertion.before];
            text += insertion.text;
            if (insertion.meets) {
                text += insertion.of_condition ? "::__kfp::reconverged<" : "::__kfp::reconverge<";
                text += std::to_string(std::min(max_level, insertion.level + base_levels_[insertion.function]));
                text += insertion.of_condition ? ">(" : ">()";
            }
            text += insertion.behind;
        }
        return std::move(found_);
    }

private:
    // What is known of a loop's body.
    struct Body {
        bool passed_by = false;    // an exchange that some lanes may not come to
        bool exchanges = false;
        bool continues = false;
        bool leaves = false;       // by break; a lane that returns is waited for by nobody
        bool has_barrier = false;  // in every iteration, for every lane

        bool needs_meeting() const { return (passed_by || (exchanges && continues)) && (!has_barrier || continues); }
    };

    struct Insertion {
        Index before;
        std::string text;
        bool meets = false;
        bool of_condition = false;
        unsigned level = 0;
        std::string function;
        std::string behind;
    };

    struct CallSite {
        std::string caller;
        std::string callee;
        unsigned level;
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
    static bool is_choice(const Token& t) { return t.is("?") || t.is("&&") || t.is("||") || t.is("and") || t.is("or"); }

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
        for (const Function& function : program_.functions) {
            if (function.defined && function.name != none && parts_lanes(function)) {
                parting_.insert(token(function.name).text);
            }
        }
    }

    // Whether lanes may come out of an exchanging function one after the other.
    bool parts_lanes(const Function& function) const {
        if (found_.exchanging.count(token(function.name).text) == 0) {
            return false;
        }
        for (Index i = function.body.begin; i < function.body.end; ++i) {
            if (!is(i, "return")) {
                continue;
            }
            bool chooses = false;
            Index end = i;
            while (end < function.body.end && !is(end, ";")) {
                chooses = chooses || is_choice(token(end));
                ++end;
            }
            if (chooses || end + 1 < function.body.end) {
                return true;
            }
        }
        return false;
    }

    // A callee's meetings are further in than all that its callers are in.
    void find_base_levels() {
        for (unsigned round = 0; round < max_call_depth; ++round) {
            bool changed = false;
            for (const CallSite& call : calls_) {
                const unsigned needed = std::min(max_level, base_levels_[call.caller] + call.level + 1);
                if (base_levels_[call.callee] < needed) {
                    base_levels_[call.callee] = needed;
                    changed = true;
                }
            }
            if (!changed) {
                return;
            }
        }
    }

    void enter(const Function& function) {
        function_ = function.name == none ? "" : token(function.name).text;
        level_ = 0;
        loops_ = 0;
        last_exchange_ = none;
        for (Index i = function.body.begin; i < function.body.end; ++i) {
            if (is_exchange(i)) {
                last_exchange_ = i;
            }
        }
        is_kernel_ = function.is_kernel;
    }

    void insert(Index before, std::string text) { insertions_.push_back({before, std::move(text), false, false, 0, {}, {}}); }
    void insert_meeting(Index before, std::string text, unsigned level, std::string behind) {
        insertions_.push_back({before, std::move(text), true, false, level, function_, std::move(behind)});
    }

    // Whether anything that lanes do together follows a statement before the next barrier.
    bool is_awaited(Index past) const {
        if (is(past, "threadgroup_barrier")) {
            return false;
        }
        return !is_kernel_ || loops_ != 0 || (last_exchange_ != none && last_exchange_ >= past);
    }

    void meet_behind(Index begin, Index past) {
        if (is_awaited(past)) {
            insert(begin, "{");
            insert_meeting(past, "", level_, ";}");
        }
    }

    void read_statements(Range range, Body& body, bool conditional) {
        for (Index i = range.begin; i < range.end;) {
            i = read_statement(i, range.end, body, conditional, true);
        }
    }

    // Returns the index past the statement. `in_block`: other statements may stand beside it.
    Index read_statement(Index i, Index end, Body& body, bool conditional, bool in_block = false) {
        if (i >= end) {
            return end;
        }
        if (depth_ == max_depth) {
            return read_simple(i, end, body, conditional, false);
        }
        ++depth_;
        const Index past = read_shallow_statement(i, end, body, conditional, in_block);
        --depth_;
        return past;
    }

    Index read_shallow_statement(Index i, Index end, Body& body, bool conditional, bool in_block) {
        if (const AttributeGroup* group = program_.group_at(i)) {
            return read_statement(group->range.end, end, body, conditional, false);
        }
        if (is(i, "{")) {
            read_statements({i + 1, program_.match[i]}, body, conditional);
            return program_.match[i] + 1;
        }
        if (is(i, "if")) {
            return read_if(i, end, body, conditional);
        }
        if (is(i, "switch") && i + 1 < end && is(i + 1, "(")) {
            return read_switch(i, end, body, conditional);
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
        return read_simple(i, end, body, conditional, in_block);
    }

    Index read_if(Index i, Index end, Body& body, bool conditional) {
        const Index begin = i;
        bool is_static = false;
        if (i + 1 < end && is(i + 1, "constexpr")) {
            is_static = true;
            ++i;
        }
        if (i + 1 >= end || !is(i + 1, "(")) {
            return i + 1;
        }
        const Index close = program_.match[i + 1];
        const std::size_t seen = exchanges_seen_;
        if (read_expression({i + 2, close}, body, conditional) && !declares({i + 2, close})) {
            insertions_.push_back({i + 2, "", true, true, level_, function_, ""});
            insert(close, ")");
        }
        const bool inner = conditional || !is_static;
        ++level_;
        Index next = read_statement(close + 1, end, body, inner);
        if (next < end && is(next, "else")) {
            next = read_statement(next + 1, end, body, inner);
        }
        --level_;
        if (!is_static && exchanges_seen_ != seen) {
            meet_behind(begin, next);
        }
        return next;
    }

    Index read_switch(Index i, Index end, Body& body, bool conditional) {
        const Index close = program_.match[i + 1];
        const std::size_t seen = exchanges_seen_;
        read_expression({i + 2, close}, body, conditional);
        ++level_;
        const Index past = read_statement(close + 1, end, body, true);
        --level_;
        if (exchanges_seen_ != seen) {
            meet_behind(i, past);
        }
        return past;
    }

    // A condition that declares a variable can't be an argument.
    bool declares(Range condition) const {
        for (Index i = condition.begin; i < condition.end; ++i) {
            if (is(i, "=") || is(i, ";")) {
                return true;
            }
            i = program_.match[i] != none && program_.match[i] > i ? program_.match[i] : i;
        }
        return false;
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
        const std::size_t seen = exchanges_seen_;
        const Index past = read_loop_parts({open + 1, close}, close + 1, end, body);
        if (body.needs_meeting()) {
            if (is(i, "while")) {
                found_.while_as_for.insert(i);
                insert(open + 1, ";");
                insert_meeting(close, "; ", level_ + 1, "");
            } else if (second != open) {
                insert_meeting(close, second + 1 == close ? "" : ", ", level_ + 1, "");
            }
        }
        const bool uniform = counts_uniformly(open, close, body);
        if (exchanges_seen_ != seen && !uniform) {
            meet_behind(i, past);
        }
        add_to_outer(body, outer, conditional || !uniform);
        return past;
    }

    // The head and the body of a loop, with room for its own meeting around what is in it.
    Index read_loop_parts(Range head, Index statement, Index end, Body& body) {
        level_ += 2;
        ++loops_;
        read_expression(head, body, false);
        const Index past = read_statement(statement, end, body, false);
        --loops_;
        level_ -= 2;
        return past;
    }

    Index read_do(Index i, Index end, Body& outer) {
        Body body;
        const std::size_t seen = exchanges_seen_;
        const Index head = read_loop_parts({i, i}, i + 1, end, body);
        if (head + 1 >= end || !is(head, "while") || !is(head + 1, "(")) {
            return head;
        }
        const Index close = program_.match[head + 1];
        level_ += 2;
        read_expression({head + 2, close}, body, false);
        level_ -= 2;
        if (body.needs_meeting()) {
            insert_meeting(head + 2, "", level_ + 1, ", (");
            insert(close, ")");
        }
        Index past = close + 1;
        past += past < end && is(past, ";") ? 1 : 0;
        if (exchanges_seen_ != seen) {
            meet_behind(i, past);
        }
        add_to_outer(body, outer, true);
        return past;
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

    Index read_simple(Index i, Index end, Body& body, bool conditional, bool in_block) {
        Index j = i;
        for (; j < end && !is(j, ";"); ++j) {
            if (program_.match[j] != none && program_.match[j] > j) {
                j = program_.match[j];
            }
        }
        body.continues = body.continues || is(i, "continue");
        body.leaves = body.leaves || is(i, "break");
        body.has_barrier = body.has_barrier || (is(i, "threadgroup_barrier") && !conditional);
        const bool parts = read_expression({i, j}, body, conditional);
        if (j >= end) {
            return j;
        }
        if (parts && in_block && !is(i, "return") && is_awaited(j + 1)) {
            insert_meeting(j + 1, "", level_, ";");
        }
        return j + 1;
    }

    // Whether lanes may leave it one after the other.
    bool read_expression(Range range, Body& body, bool conditional) {
        bool parts = false;
        bool chosen = false;
        for (Index i = range.begin; i < range.end; ++i) {
            chosen = chosen || is_choice(token(i));
            if (is_exchange(i)) {
                const std::string& name = token(i).text;
                ++exchanges_seen_;
                body.exchanges = true;
                body.passed_by = body.passed_by || conditional || chosen;
                parts = parts || chosen || parting_.count(name) != 0;
                if (found_.exchanging.count(name) != 0) {
                    calls_.push_back({function_, name, level_});
                }
            }
        }
        return parts;
    }

    const Program& program_;
    Reconvergence found_;
    std::set<std::string, std::less<>> parting_;
    std::vector<Insertion> insertions_;
    std::vector<CallSite> calls_;
    std::map<std::string, unsigned, std::less<>> base_levels_;
    // Of the function that is being read:
    std::string function_;
    bool is_kernel_ = false;
    Index last_exchange_ = none;
    unsigned level_ = 0;
    unsigned loops_ = 0;
    std::size_t exchanges_seen_ = 0;
    unsigned depth_ = 0;
};

}  // namespace

Reconvergence find_reconvergence(const Program& program) { return Finder(program).run(); }

}  // namespace kfp::msl
