#include "textflag.h"

// func callers(pcs *sitePCs)
TEXT ·callers(SB), NOSPLIT|NOFRAME, $0-8
	MOVQ pcs+0(FP), DI
	MOVQ BP, SI
	MOVQ $6, CX

next:
	TESTQ SI, SI
	JZ    done
	MOVQ  8(SI), AX
	MOVQ  AX, (DI)
	MOVQ  (SI), SI
	ADDQ  $8, DI
	DECQ  CX
	JNZ   next
	RET

done:
	MOVQ $0, (DI)
	RET
