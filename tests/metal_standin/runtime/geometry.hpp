// Structs that cross objc_msgSend by value: three words each, as Metal's.
#pragma once

namespace standin {

struct Size {
    unsigned long width;
    unsigned long height;
    unsigned long depth;
};

struct Range {
    unsigned long location;
    unsigned long length;
};

}  // namespace standin
