// Metal's scalar types; bool, char, short, int, long, half and float are the compiler's own.
#ifndef KFP_SCALAR_H
#define KFP_SCALAR_H

typedef unsigned char uchar;
typedef unsigned short ushort;
typedef unsigned int uint;
typedef unsigned long ulong;
typedef __bf16 bfloat;

typedef unsigned long size_t;
typedef long ptrdiff_t;
typedef long intptr_t;
typedef unsigned long uintptr_t;

typedef char int8_t;
typedef unsigned char uint8_t;
typedef short int16_t;
typedef unsigned short uint16_t;
typedef int int32_t;
typedef unsigned int uint32_t;
typedef long int64_t;
typedef unsigned long uint64_t;

typedef decltype(nullptr) nullptr_t;

namespace metal {
using ::uchar; using ::ushort; using ::uint; using ::ulong; using ::bfloat;
using ::size_t; using ::ptrdiff_t; using ::intptr_t; using ::uintptr_t; using ::nullptr_t;
using ::int8_t; using ::int16_t; using ::int32_t; using ::int64_t;
using ::uint8_t; using ::uint16_t; using ::uint32_t; using ::uint64_t;
}

#endif
