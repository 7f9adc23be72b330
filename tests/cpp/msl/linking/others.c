__attribute__((visibility("default"))) int shared_counter;
__attribute__((visibility("default"))) const void* __kfp_runtime;

int add_by_others(int a, int b) { return a + b + 1000; }
