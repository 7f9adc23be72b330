// Everything of the Metal standard library that a candidate can use, in one header that is precompiled once.
#ifndef KFP_PRELUDE_H
#define KFP_PRELUDE_H

#include "kfp_abi.h"

#include "kfp/address_spaces.h"
#include "kfp/scalar.h"
#include "kfp/limits.h"
#include "kfp/type_traits.h"
#include "kfp/array.h"
#include "kfp/vector.h"
#include "kfp/packed.h"
#include "kfp/as_type.h"
#include "kfp/integer.h"
#include "kfp/relational.h"
#include "kfp/common.h"
#include "kfp/geometric.h"
#include "kfp/matrix.h"
#include "kfp/math.h"
#include "kfp/pack.h"
#include "kfp/sync.h"
#include "kfp/atomic.h"
#include "kfp/simdgroup.h"
#include "kfp/quadgroup.h"
#include "kfp/simdgroup_matrix.h"
#include "kfp/textures.h"
#include "kfp/instantiate.h"

#endif
