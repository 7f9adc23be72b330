static __thread int own = 1;
__attribute__((visibility("default"))) int next(void) { return ++own; }
