/* The fixed-width types, as the images are built without any system header. */
#ifndef KFP_GLUE_TYPES_H
#define KFP_GLUE_TYPES_H

typedef __SIZE_TYPE__ size_t;
typedef __UINTPTR_TYPE__ uintptr_t;
typedef __UINT16_TYPE__ uint16_t;
typedef __UINT32_TYPE__ uint32_t;
typedef __UINT64_TYPE__ uint64_t;

#endif
