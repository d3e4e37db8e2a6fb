/* kgen_reduce.h: from the lanes of a vector to one value. */

/* Lane i meets lane i + KG_W/2, then i + KG_W/4 and so on: a fixed tree. */
#if KG_W == 16
#define KG_TREE(v, op)            \
	v = op(v, kg_swap8(v));   \
	v = op(v, kg_swap4(v));   \
	v = op(v, kg_swap2(v));   \
	v = op(v, kg_swap1(v))
#elif KG_W == 8
#define KG_TREE(v, op)            \
	v = op(v, kg_swap4(v));   \
	v = op(v, kg_swap2(v));   \
	v = op(v, kg_swap1(v))
#else
#define KG_TREE(v, op)            \
	v = op(v, kg_swap2(v));   \
	v = op(v, kg_swap1(v))
#endif

KG_FN vf kg_addop(vf a, vf b) {
	return a + b;
}
KG_FN vf kg_mulop(vf a, vf b) {
	return a * b;
}
KG_FN vf kg_addiop(vf a, vf b) {
	return (vf)((vi)a + (vi)b);
}
KG_FN vf kg_muliop(vf a, vf b) {
	return (vf)((vi)a * (vi)b);
}
KG_FN vf kg_miniop(vf a, vf b) {
	return (vf)kg_mini((vi)a, (vi)b);
}
KG_FN vf kg_maxiop(vf a, vf b) {
	return (vf)kg_maxi((vi)a, (vi)b);
}

KG_FN float kg_hsum(vf v) {
	KG_TREE(v, kg_addop);
	return v[0];
}
KG_FN float kg_hprod(vf v) {
	KG_TREE(v, kg_mulop);
	return v[0];
}
/* kg_hmax and kg_hmin give NaN if any lane is NaN. */
KG_FN float kg_hmax(vf v) {
	KG_TREE(v, kg_max);
	return v[0];
}
KG_FN float kg_hmin(vf v) {
	KG_TREE(v, kg_min);
	return v[0];
}
KG_FN int32_t kg_hsumi(vi x) {
	vf v = (vf)x;
	KG_TREE(v, kg_addiop);
	return ((vi)v)[0];
}
KG_FN int32_t kg_hprodi(vi x) {
	vf v = (vf)x;
	KG_TREE(v, kg_muliop);
	return ((vi)v)[0];
}
KG_FN int32_t kg_hmini(vi x) {
	vf v = (vf)x;
	KG_TREE(v, kg_miniop);
	return ((vi)v)[0];
}
KG_FN int32_t kg_hmaxi(vi x) {
	vf v = (vf)x;
	KG_TREE(v, kg_maxiop);
	return ((vi)v)[0];
}

#undef KG_TREE

/* Argmax and argmin over a row: the lowest index of the winner, the first NaN
 * wins. Start with kg_argmax_start, update with indices that rise in each
 * lane, in any number of (best, idx) pairs; merge pairs with kg_argmax_merge. */
KG_FN void kg_argmax_start(vf *best, vi *idx) {
	*best = kg_splat(-__builtin_inff());
	*idx = kg_splati(INT32_MAX);
}
KG_FN void kg_argmin_start(vf *best, vi *idx) {
	*best = kg_splat(__builtin_inff());
	*idx = kg_splati(INT32_MAX);
}

KG_FN void kg_arg_put(vf *best, vi *idx, vm win, vf x, vi i) {
	*best = kg_select(win, x, *best);
	*idx = kg_selecti(win, i, *idx);
}
/* x wins when it is greater or the first NaN of its lane. */
KG_FN void kg_argmax_update(vf *best, vi *idx, vf x, vi i) {
	kg_arg_put(best, idx, ~(x <= *best) & (*best == *best), x, i);
}
KG_FN void kg_argmin_update(vf *best, vi *idx, vf x, vi i) {
	kg_arg_put(best, idx, ~(x >= *best) & (*best == *best), x, i);
}
/* The same for the lanes below n only. */
KG_FN void kg_argmax_updaten(vf *best, vi *idx, vf x, vi i, int64_t n) {
	kg_arg_put(best, idx, ~(x <= *best) & (*best == *best) & kg_first(n), x, i);
}
KG_FN void kg_argmin_updaten(vf *best, vi *idx, vf x, vi i, int64_t n) {
	kg_arg_put(best, idx, ~(x >= *best) & (*best == *best) & kg_first(n), x, i);
}

/* Of two values the better wins, of two equal ones or NaN the lower index. */
KG_FN vm kg_arg_tie(vf a, vi ia, vf b, vi ib) {
	vm na = a != a, nb = b != b;
	return (nb & ~na) | (((a == b) | (na & nb)) & (ib < ia));
}
KG_FN void kg_argmax_merge(vf *best, vi *idx, vf b, vi ib) {
	kg_arg_put(best, idx, (b > *best) | kg_arg_tie(*best, *idx, b, ib), b, ib);
}
KG_FN void kg_argmin_merge(vf *best, vi *idx, vf b, vi ib) {
	kg_arg_put(best, idx, (b < *best) | kg_arg_tie(*best, *idx, b, ib), b, ib);
}

/* The index that wins over all lanes; 0 if none was updated or all that were
 * are the infinity of the start. */
KG_FN int32_t kg_arg_lowest(vm win, vi idx) {
	int32_t i = kg_hmini(kg_selecti(win, idx, kg_splati(INT32_MAX)));
	return i == INT32_MAX ? 0 : i;
}
KG_FN int32_t kg_hargmax(vf best, vi idx) {
	vm nan = best != best;
	return kg_arg_lowest(kg_hany(nan) ? nan : best == kg_hmax(best), idx);
}
KG_FN int32_t kg_hargmin(vf best, vi idx) {
	vm nan = best != best;
	return kg_arg_lowest(kg_hany(nan) ? nan : best == kg_hmin(best), idx);
}
