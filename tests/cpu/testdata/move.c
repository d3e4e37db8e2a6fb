/* move ISA: kg_move and kg_fill against loops, for all sizes around a tile and
 * rows that lie apart. Nothing outside the rows may change. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kgen.h"
#ifndef KG_ISA

static int failures;
enum { MOST = 140, ROOM = MOST * MOST };
static const int sizes[] = {0, 1, 2, 3, 4, 7, 9, 64, 65, 131};
enum { SIZES = sizeof sizes / sizeof *sizes };

#define KG_SELF "move.c"
#include "kgen_isa.h"
KG_DISPATCH(kt_move)

int main(int argc, char **argv) {
	kg_call call = {.isa = argc > 1 ? atoi(argv[1]) : 0};
	kt_move(&call, 0, 0);
	printf("%d failures\n", failures);
	return failures != 0;
}
#else

#define KT_MOVES(N, T)                                                                                     \
	static void KG_NAME(moves_##N)(int rows, int cols, int64_t ld, int64_t rs, int64_t cs) {           \
		static T src[ROOM], got[ROOM], want[ROOM];                                                 \
		size_t room = (size_t)(rows + 8) * (size_t)(cols + 8);                                     \
		for (size_t i = 0; i < room; i++) {                                                        \
			src[i] = (T)((uint32_t)i * 2654435761u >> 7);                                                \
			got[i] = want[i] = (T)~i;                                                          \
		}                                                                                          \
		for (int r = 0; r < rows; r++) {                                                           \
			for (int c = 0; c < cols; c++) {                                                   \
				want[r * ld + c] = src[r * rs + c * cs];                                   \
			}                                                                                  \
		}                                                                                          \
		kg_move_##N(got, ld, src, rs, cs, rows, cols);                                             \
		if (memcmp(got, want, room * sizeof(T)) && failures++ < 20) {                                    \
			printf("FAIL move_%d: %d x %d, ld %d, rs %d, cs %d\n", N, rows, cols, (int)ld, (int)rs, (int)cs); \
		}                                                                                          \
		for (int r = 0; r < rows; r++) {                                                           \
			for (int c = 0; c < cols; c++) {                                                   \
				want[r * ld + c] = (T)0x89abcdef;                                          \
			}                                                                                  \
		}                                                                                          \
		kg_fill_##N(got, ld, (T)0x89abcdef, rows, cols);                                           \
		if (memcmp(got, want, room * sizeof(T)) && failures++ < 20) {                                    \
			printf("FAIL fill_%d: %d x %d, ld %d\n", N, rows, cols, (int)ld);                  \
		}                                                                                          \
	}
KT_MOVES(8, uint8_t)
KT_MOVES(16, uint16_t)
KT_MOVES(32, uint32_t)

static void KG_NAME(kt_move)(const kg_call *call, int64_t lo, int64_t hi) {
	(void)call, (void)lo, (void)hi;
	for (int i = 0; i < SIZES; i++) {
		for (int j = 0; j < SIZES; j++) {
			int rows = sizes[i], cols = sizes[j];
			for (int apart = 0; apart < 5; apart += 4) {
				int64_t steps[][2] = {{cols + apart, 1}, {1, rows + apart}, {1, 0}, {0, 1}, {cols, cols > 64 || rows > 64 ? 1 : 2}};
				for (int k = 0; k < 5; k++) {
					KG_NAME(moves_8)(rows, cols, cols + apart, steps[k][0], steps[k][1]);
					KG_NAME(moves_16)(rows, cols, cols + apart, steps[k][0], steps[k][1]);
					KG_NAME(moves_32)(rows, cols, cols + apart, steps[k][0], steps[k][1]);
				}
			}
		}
	}
}

#endif
