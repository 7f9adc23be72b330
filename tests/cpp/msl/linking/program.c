/* What clang makes objects of, and every kind of reference between them. */
extern int shared_counter;
int add_by_others(int, int);

static int zeros[64];
static int started = 41;
static const int table[] = {3, 1, 4, 1, 5, 9, 2, 6};

static int plus(int a, int b) { return a + b; }
static int minus(int a, int b) { return a - b; }
static int (*const operations[])(int, int) = {plus, minus, add_by_others};
const char* const words[] = {"one", "three", "eleven"};

#define EXPORTED __attribute__((visibility("default")))

EXPORTED int from_table(int i) { return table[i & 7]; }
EXPORTED int operate(int i, int a, int b) { return operations[i](a, b); }
EXPORTED int word_length(int i) {
    int n = 0;
    while (words[i][n]) ++n;
    return n;
}
EXPORTED int call_others(int a, int b) { return add_by_others(a, b); }
EXPORTED int count(void) { return ++shared_counter; }
EXPORTED int remember(int i) { return zeros[i & 63] += ++started; }
EXPORTED int* started_place(void) { return &started; }
EXPORTED int name_of(int i) {
    switch (i) {
        case 0: return 'z';
        case 1: return 'o';
        case 2: return 't';
        case 3: return 'r';
        case 4: return 'f';
        case 5: return 'i';
        default: return '?';
    }
}
