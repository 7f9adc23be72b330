#ifndef KFP_QUADGROUP_H
#define KFP_QUADGROUP_H

#include "exchange.h"
#include "math.h"

namespace metal {

class quad_vote {
public:
    typedef uint vote_t;
    explicit KFP_CONSTEXPR quad_vote(vote_t votes = 0) : __votes(votes) {}
    explicit KFP_CONSTEXPR operator vote_t() const { return __votes; }
    KFP_CONSTEXPR bool all() const { return (__votes & 15) == 15; }
    KFP_CONSTEXPR bool any() const { return (__votes & 15) != 0; }

private:
    vote_t __votes;
};

KFP_GROUP_FUNCTIONS(quad, __kfp::quadgroup_width)

}  // namespace metal

#endif
