/* objc_msgSend keeps every argument register, asks standin_find_method(receiver, selector) where to go, and goes there. */

#if defined(__x86_64__)

        .macro SAVE_ARGUMENTS
        .cfi_startproc
        pushq %rbp
        .cfi_def_cfa_offset 16
        .cfi_offset %rbp, -16
        movq %rsp, %rbp
        .cfi_def_cfa_register %rbp
        subq $192, %rsp
        movq %rdi, 0(%rsp)
        movq %rsi, 8(%rsp)
        movq %rdx, 16(%rsp)
        movq %rcx, 24(%rsp)
        movq %r8, 32(%rsp)
        movq %r9, 40(%rsp)
        movq %rax, 48(%rsp)
        movaps %xmm0, 64(%rsp)
        movaps %xmm1, 80(%rsp)
        movaps %xmm2, 96(%rsp)
        movaps %xmm3, 112(%rsp)
        movaps %xmm4, 128(%rsp)
        movaps %xmm5, 144(%rsp)
        movaps %xmm6, 160(%rsp)
        movaps %xmm7, 176(%rsp)
        .endm

        .macro RESTORE_ARGUMENTS_AND_JUMP
        movq %rax, %r11
        movq 0(%rsp), %rdi
        movq 8(%rsp), %rsi
        movq 16(%rsp), %rdx
        movq 24(%rsp), %rcx
        movq 32(%rsp), %r8
        movq 40(%rsp), %r9
        movq 48(%rsp), %rax
        movaps 64(%rsp), %xmm0
        movaps 80(%rsp), %xmm1
        movaps 96(%rsp), %xmm2
        movaps 112(%rsp), %xmm3
        movaps 128(%rsp), %xmm4
        movaps 144(%rsp), %xmm5
        movaps 160(%rsp), %xmm6
        movaps 176(%rsp), %xmm7
        leave
        .cfi_def_cfa %rsp, 8
        jmpq *%r11
        .cfi_endproc
        .endm

        .text
        .globl objc_msgSend, objc_msgSend_fpret, objc_msgSend_stret, standin_answer_nil
        .type objc_msgSend, @function
        .type objc_msgSend_fpret, @function
        .type objc_msgSend_stret, @function
        .type standin_answer_nil, @function

objc_msgSend:
objc_msgSend_fpret:
        SAVE_ARGUMENTS
        xorl %edx, %edx
        callq standin_find_method@PLT
        RESTORE_ARGUMENTS_AND_JUMP

/* The place for the returned struct comes first. */
objc_msgSend_stret:
        SAVE_ARGUMENTS
        movq %rsi, %rdi
        movq %rdx, %rsi
        movl $1, %edx
        callq standin_find_method@PLT
        RESTORE_ARGUMENTS_AND_JUMP

standin_answer_nil:
        xorl %eax, %eax
        xorl %edx, %edx
        xorps %xmm0, %xmm0
        retq

#elif defined(__aarch64__)

        .text
        .globl objc_msgSend, standin_answer_nil
        .type objc_msgSend, %function
        .type standin_answer_nil, %function

objc_msgSend:
        .cfi_startproc
        stp x29, x30, [sp, #-224]!
        .cfi_def_cfa_offset 224
        .cfi_offset x29, -224
        .cfi_offset x30, -216
        mov x29, sp
        stp x0, x1, [sp, #16]
        stp x2, x3, [sp, #32]
        stp x4, x5, [sp, #48]
        stp x6, x7, [sp, #64]
        str x8, [sp, #80]
        stp q0, q1, [sp, #96]
        stp q2, q3, [sp, #128]
        stp q4, q5, [sp, #160]
        stp q6, q7, [sp, #192]
        mov w2, #0
        bl standin_find_method
        mov x16, x0
        ldp q6, q7, [sp, #192]
        ldp q4, q5, [sp, #160]
        ldp q2, q3, [sp, #128]
        ldp q0, q1, [sp, #96]
        ldr x8, [sp, #80]
        ldp x6, x7, [sp, #64]
        ldp x4, x5, [sp, #48]
        ldp x2, x3, [sp, #32]
        ldp x0, x1, [sp, #16]
        ldp x29, x30, [sp], #224
        .cfi_def_cfa_offset 0
        br x16
        .cfi_endproc

standin_answer_nil:
        mov x0, #0
        movi d0, #0
        ret

#endif

        .section .note.GNU-stack,"",%progbits
