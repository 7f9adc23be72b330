// standin_misuse RULE breaks that rule, and must not come back; standin_misuse --list names them.
#include <cstdio>
#include <memory>

#include "fixed_device.hpp"
#include "rules.hpp"
#include "standin.hpp"

int main(int count, char** words) {
    const auto all = rules();
    if (count != 2 || std::string(words[1]) == "--list") {
        for (const auto& [name, rule] : all) std::puts(name.c_str());
        return count == 2 ? 0 : 2;
    }
    standin::configuration().backing = std::make_shared<kfp::FixedDevice>();
    all.at(words[1])();
    standin::configuration().backing.reset();
    return 0;
}
