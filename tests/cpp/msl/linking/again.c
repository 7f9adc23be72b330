int add_by_others(int a, int b) { return a - b; }
