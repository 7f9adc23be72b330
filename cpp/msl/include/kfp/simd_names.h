// The names that <simd/simd.h> gives to the same types in headers shared with the host.
#ifndef KFP_SIMD_NAMES_H
#define KFP_SIMD_NAMES_H

#define KFP_SIMD_VECTOR(t, n) \
    typedef metal::t##n simd_##t##n; \
    typedef metal::t##n vector_##t##n; \
    namespace simd { using metal::t##n; }
#define KFP_SIMD_VECTORS(t) KFP_SIMD_VECTOR(t, 2) KFP_SIMD_VECTOR(t, 3) KFP_SIMD_VECTOR(t, 4)
#define KFP_SIMD_MATRIX(c, r) \
    typedef metal::float##c##x##r simd_float##c##x##r; \
    typedef metal::float##c##x##r matrix_float##c##x##r; \
    namespace simd { using metal::float##c##x##r; }
#define KFP_SIMD_MATRICES(c) KFP_SIMD_MATRIX(c, 2) KFP_SIMD_MATRIX(c, 3) KFP_SIMD_MATRIX(c, 4)

KFP_SIMD_VECTORS(char) KFP_SIMD_VECTORS(uchar) KFP_SIMD_VECTORS(short) KFP_SIMD_VECTORS(ushort) KFP_SIMD_VECTORS(int)
KFP_SIMD_VECTORS(uint) KFP_SIMD_VECTORS(long) KFP_SIMD_VECTORS(ulong) KFP_SIMD_VECTORS(half) KFP_SIMD_VECTORS(float)
KFP_SIMD_MATRICES(2) KFP_SIMD_MATRICES(3) KFP_SIMD_MATRICES(4)

#undef KFP_SIMD_VECTOR
#undef KFP_SIMD_VECTORS
#undef KFP_SIMD_MATRIX
#undef KFP_SIMD_MATRICES

#endif
