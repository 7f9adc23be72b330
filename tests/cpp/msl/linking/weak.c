__attribute__((weak)) int nowhere(int);
__attribute__((visibility("default"))) int refers(int x) { return nowhere ? nowhere(x) : 0; }
