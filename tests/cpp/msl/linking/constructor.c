volatile int begun;
__attribute__((constructor)) static void begin(void) { begun = begun + 1; }
