#include "textflag.h"

// func callers(pcs *sitePCs)
TEXT ·callers(SB), NOSPLIT|NOFRAME, $0-8
	MOVD pcs+0(FP), R0
	MOVD R29, R1
	MOVD $6, R2

next:
	CBZ  R1, done
	MOVD 8(R1), R3
	MOVD R3, (R0)
	MOVD (R1), R1
	ADD  $8, R0
	SUB  $1, R2
	CBNZ R2, next
	RET

done:
	MOVD ZR, (R0)
	RET
