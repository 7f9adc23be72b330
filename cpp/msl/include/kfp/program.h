// What every candidate is compiled after; precompiled once.
#include "kfp_prelude.h"
#include "kfp/launch.h"
