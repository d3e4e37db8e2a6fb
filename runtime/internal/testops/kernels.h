/* Kernels of the test operations. */
#ifndef KGEN_TESTOPS_H
#define KGEN_TESTOPS_H

#include "../cpu/kgen_abi.h"

enum { TILE = 1024 };

void kt_add(const kg_call *call, int64_t lo, int64_t hi);
void kt_copy(const kg_call *call, int64_t lo, int64_t hi);
void kt_overrun(const kg_call *call, int64_t lo, int64_t hi);
void kt_mul(const kg_call *call, int64_t lo, int64_t hi);
void kt_scale(const kg_call *call, int64_t lo, int64_t hi);
void kt_fill(const kg_call *call, int64_t lo, int64_t hi);
void kt_spread(const kg_call *call, int64_t lo, int64_t hi);
void kt_sgd(const kg_call *call, int64_t lo, int64_t hi);
void kt_partial_sum(const kg_call *call, int64_t lo, int64_t hi);
void kt_final_sum(const kg_call *call, int64_t lo, int64_t hi);
void kt_embedding(const kg_call *call, int64_t lo, int64_t hi);
void kt_embedding_grad(const kg_call *call, int64_t lo, int64_t hi);
void kt_where(const kg_call *call, int64_t lo, int64_t hi);

#endif
