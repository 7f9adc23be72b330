// The little that the C++ tests need: count what fails, say where, and exit accordingly.
#pragma once

#include <cstdlib>
#include <iostream>
#include <string>
#include <string_view>

namespace kfp::test {

inline int failures = 0;

inline void report(const char* file, int line, const std::string& what) {
    ++failures;
    std::cerr << file << ":" << line << ": " << what << "\n";
}

template <typename Left, typename Right>
void check_equal(const Left& left, const Right& right, const char* expression, const char* file, int line) {
    if (left == right) return;
    std::cerr << "  " << left << " against " << right << "\n";
    report(file, line, std::string("not equal: ") + expression);
}

template <typename Expected, typename Function>
void check_throws(Function function, std::string_view words, const char* file, int line) {
    try {
        function();
    } catch (const Expected& error) {
        const std::string what = error.what();
        if (what.find(words) == std::string::npos) report(file, line, "the message lacks '" + std::string(words) + "': " + what);
        return;
    }
    report(file, line, "nothing was thrown; expected '" + std::string(words) + "'");
}

inline int outcome() {
    if (failures != 0) std::cerr << failures << " checks failed\n";
    return failures == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

}  // namespace kfp::test

#define CHECK(condition) \
    do { \
        if (!(condition)) ::kfp::test::report(__FILE__, __LINE__, "false: " #condition); \
    } while (false)
#define CHECK_EQUAL(left, right) ::kfp::test::check_equal(left, right, #left " == " #right, __FILE__, __LINE__)
#define CHECK_THROWS(type, words, ...) \
    ::kfp::test::check_throws<type>([&] { __VA_ARGS__; }, words, __FILE__, __LINE__)
