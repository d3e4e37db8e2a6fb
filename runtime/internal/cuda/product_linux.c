/* Matrix products by cuBLASLt. It takes matrices column by column, where those of
 * kernels lie row by row: so it computes the transpose of C from those of B and A. */
#include "device.h"

#include <stdlib.h>

#define LT(call, ...) (d->lt.call(__VA_ARGS__) == CUBLAS_STATUS_SUCCESS)

static int set(kgc_device *d, void *desc, int name, const void *value, size_t bytes) {
	return LT(cublasLtMatmulDescSetAttribute, desc, name, value, bytes);
}

/* A row-major matrix of so many rows and columns, column-major: its transpose. */
static int layout(kgc_device *d, void **out, int type, int64_t rows, int64_t columns, int64_t batch) {
	int32_t count = (int32_t)batch;
	int64_t stride = rows * columns;
	if (!LT(cublasLtMatrixLayoutCreate, out, type, (uint64_t)columns, (uint64_t)rows, columns)) return 0;
	return LT(cublasLtMatrixLayoutSetAttribute, *out, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &count, sizeof count) &&
	       LT(cublasLtMatrixLayoutSetAttribute, *out, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, &stride, sizeof stride);
}

/* Chooses an algorithm. Parts of a sum are added up in f32, in an order of its own. */
static int choose(kgc_device *d, kgc_product *p) {
	cublasLtMatmulHeuristicResult_t found = {0};
	void *pref = NULL;
	size_t workspace = KGC_WORKSPACE;
	uint32_t scheme = CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE, alignment = KGC_ALIGNMENT;
	int n = 0;
	if (!LT(cublasLtMatmulPreferenceCreate, &pref)) return 0;
	int ok = LT(cublasLtMatmulPreferenceSetAttribute, pref, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &workspace, sizeof workspace) &&
		 LT(cublasLtMatmulPreferenceSetAttribute, pref, CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK, &scheme, sizeof scheme);
	for (int name = CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES; ok && name <= CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES; name++)
		ok = LT(cublasLtMatmulPreferenceSetAttribute, pref, name, &alignment, sizeof alignment);
	ok = ok && LT(cublasLtMatmulAlgoGetHeuristic, d->products, p->desc, p->left, p->right, p->out, p->out, pref, 1, &found, &n) &&
	     n > 0 && found.state == CUBLAS_STATUS_SUCCESS && found.workspaceSize <= workspace;
	d->lt.cublasLtMatmulPreferenceDestroy(pref);
	p->algo = found.algo;
	return ok;
}

static int describe(kgc_device *d, kgc_product *p, int type, int64_t batch, int64_t m, int64_t n, int64_t k, int32_t trans_a,
		    int32_t trans_b, int32_t epilogue, int32_t compute) {
	int32_t t = CUBLAS_OP_T;
	uint64_t bias = d->workspace + KGC_ALIGNMENT; /* whose alignment is what counts until there is one */
	if (!LT(cublasLtMatmulDescCreate, &p->desc, compute, CUDA_R_32F)) return 0;
	if (trans_b && !set(d, p->desc, CUBLASLT_MATMUL_DESC_TRANSA, &t, sizeof t)) return 0;
	if (trans_a && !set(d, p->desc, CUBLASLT_MATMUL_DESC_TRANSB, &t, sizeof t)) return 0;
	if (!set(d, p->desc, CUBLASLT_MATMUL_DESC_EPILOGUE, &epilogue, sizeof epilogue)) return 0;
	if ((epilogue & CUBLASLT_EPILOGUE_BIAS) && !set(d, p->desc, CUBLASLT_MATMUL_DESC_BIAS_POINTER, &bias, sizeof bias)) return 0;
	return layout(d, &p->left, type, trans_b ? n : k, trans_b ? k : n, batch) &&
	       layout(d, &p->right, type, trans_a ? k : m, trans_a ? m : k, batch) && layout(d, &p->out, type, m, n, batch);
}

kgc_product *kgc_new_product(kgc_device *d, int32_t type, int64_t batch, int64_t m, int64_t n, int64_t k, int32_t trans_a,
			     int32_t trans_b, int32_t epilogue, int32_t compute) {
	kgc_product *p = calloc(1, sizeof *p);
	if (p == NULL) return NULL;
	if (d->cu.cuCtxSetCurrent(d->ctx) == CUDA_SUCCESS && describe(d, p, type, batch, m, n, k, trans_a, trans_b, epilogue, compute) &&
	    choose(d, p))
		return p;
	kgc_free_product(d, p);
	return NULL;
}

void kgc_free_product(kgc_device *d, kgc_product *p) {
	if (p->desc != NULL) d->lt.cublasLtMatmulDescDestroy(p->desc);
	if (p->left != NULL) d->lt.cublasLtMatrixLayoutDestroy(p->left);
	if (p->right != NULL) d->lt.cublasLtMatrixLayoutDestroy(p->right);
	if (p->out != NULL) d->lt.cublasLtMatrixLayoutDestroy(p->out);
	free(p);
}

kgc_status kgc_multiply(kgc_device *d, const kgc_cmd *c, const uint64_t *addresses) {
	kgc_product *p = c->product;
	const float one = 1, zero = 0;
	if (c->bias_at >= 0 && !set(d, p->desc, CUBLASLT_MATMUL_DESC_BIAS_POINTER, &addresses[c->bias_at], sizeof *addresses))
		return (kgc_status){"cublasLtMatmulDescSetAttribute", CUDA_ERROR_UNKNOWN};
	void *out = (void *)addresses[c->out_at];
	if (!LT(cublasLtMatmul, d->products, p->desc, &one, (void *)addresses[c->left_at], p->left, (void *)addresses[c->right_at],
		p->right, &zero, out, p->out, out, p->out, &p->algo, (void *)d->workspace, KGC_WORKSPACE, d->run))
		return (kgc_status){"cublasLtMatmul", CUDA_ERROR_UNKNOWN};
	return KGC_OK;
}
