#ifndef KFP_SIMDGROUP_H
#define KFP_SIMDGROUP_H

#include "exchange.h"
#include "math.h"

namespace metal {

class simd_vote {
public:
    typedef ulong vote_t;
    explicit KFP_CONSTEXPR simd_vote(vote_t votes = 0) : __votes(votes) {}
    explicit KFP_CONSTEXPR operator vote_t() const { return __votes; }
    KFP_CONSTEXPR bool all() const { return uint(__votes) == ~0u; }
    KFP_CONSTEXPR bool any() const { return __votes != 0; }

private:
    vote_t __votes;
};

KFP_GROUP_FUNCTIONS(simd, __kfp::simdgroup_width)

}  // namespace metal

#endif
