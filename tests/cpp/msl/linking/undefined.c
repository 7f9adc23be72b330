int nowhere(int);
__attribute__((visibility("default"))) int refers(int x) { return nowhere(x) + 1; }
