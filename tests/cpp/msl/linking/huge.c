__attribute__((visibility("default"))) int huge[64 << 20];
