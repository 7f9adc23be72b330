"""Instructions of LLVM's intermediate code by kind, and how a reader writes them (LLVM Language Reference Manual)."""

from __future__ import annotations

# With the operator of C that each stands for.
BINARY = {
    "add": "+", "sub": "-", "mul": "*", "udiv": "/", "sdiv": "/", "urem": "%", "srem": "%", "shl": "<<", "lshr": ">>",
    "ashr": ">>", "and": "&", "or": "|", "xor": "^", "fadd": "+", "fsub": "-", "fmul": "*", "fdiv": "/", "frem": "%",
}  # fmt: skip
COMPARISONS = ("icmp", "fcmp")
RELATIONS = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}
# Between numbers; the rest of the casts are between numbers and pointers.
CONVERSIONS = (
    "trunc", "zext", "sext", "fptrunc", "fpext", "fptoui", "fptosi", "uitofp", "sitofp", "bitcast", "addrspacecast",
)  # fmt: skip
CASTS = (*CONVERSIONS, "ptrtoint", "inttoptr")
UNARY = ("fneg", "freeze")
AGGREGATES = ("extractelement", "insertelement", "shufflevector", "extractvalue", "insertvalue")
# What a reader doesn't see in an expression.
SILENT = frozenset((*CONVERSIONS, "freeze"))
