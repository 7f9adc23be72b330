int common_variable;
