//go:build !purego

#include "textflag.h"

// Each step takes 64 codes: four times 16 bytes widened to 16 bits, multiplied
// by 16 digits and added in pairs to eight 32-bit sums.

// TOTAL stores the sum of eight 32-bit lanes.
#define TOTAL(Y, X, T, TO) \
	VEXTRACTI128 $1, Y, T    \
	VPADDD       T, X, X     \
	VPSHUFD      $0x4E, X, T \
	VPADDD       T, X, X     \
	VPSHUFD      $0xB1, X, T \
	VPADDD       T, X, X     \
	VMOVD        X, (TO)

// func scanAVX2(sums *int32, codes *byte, n *int16, rows, stride int)
TEXT ·scanAVX2(SB), NOSPLIT, $0-40
	MOVQ sums+0(FP), DI
	MOVQ codes+8(FP), SI
	MOVQ n+16(FP), R8
	MOVQ rows+24(FP), R9
	MOVQ stride+32(FP), R10
	SHRQ $6, R10

row:
	VPXOR Y0, Y0, Y0
	VPXOR Y1, Y1, Y1
	VPXOR Y2, Y2, Y2
	VPXOR Y3, Y3, Y3
	MOVQ  R8, DX
	MOVQ  R10, CX

step:
	VPMOVZXBW (SI), Y4
	VPMOVZXBW 16(SI), Y5
	VPMOVZXBW 32(SI), Y6
	VPMOVZXBW 48(SI), Y7
	VPMADDWD  (DX), Y4, Y4
	VPMADDWD  32(DX), Y5, Y5
	VPMADDWD  64(DX), Y6, Y6
	VPMADDWD  96(DX), Y7, Y7
	VPADDD    Y4, Y0, Y0
	VPADDD    Y5, Y1, Y1
	VPADDD    Y6, Y2, Y2
	VPADDD    Y7, Y3, Y3
	ADDQ      $64, SI
	ADDQ      $128, DX
	DECQ      CX
	JNZ       step

	VPADDD Y1, Y0, Y0
	VPADDD Y3, Y2, Y2
	VPADDD Y2, Y0, Y0
	TOTAL(Y0, X0, X1, DI)
	ADDQ         $4, DI
	DECQ         R9
	JNZ          row

	VZEROUPPER
	RET

// func scanCheckedAVX2(sums, checks *int32, codes *byte, n, m *int16, rows, stride int)
TEXT ·scanCheckedAVX2(SB), NOSPLIT, $0-56
	MOVQ sums+0(FP), DI
	MOVQ checks+8(FP), R11
	MOVQ codes+16(FP), SI
	MOVQ n+24(FP), R8
	MOVQ m+32(FP), R12
	MOVQ rows+40(FP), R9
	MOVQ stride+48(FP), R10
	SHRQ $6, R10

row:
	VPXOR Y0, Y0, Y0
	VPXOR Y1, Y1, Y1
	VPXOR Y2, Y2, Y2
	VPXOR Y3, Y3, Y3
	MOVQ  R8, DX
	MOVQ  R12, BX
	MOVQ  R10, CX

step:
	VPMOVZXBW (SI), Y4
	VPMOVZXBW 16(SI), Y5
	VPMOVZXBW 32(SI), Y6
	VPMOVZXBW 48(SI), Y7
	VPMADDWD  (DX), Y4, Y8
	VPMADDWD  32(DX), Y5, Y9
	VPMADDWD  64(DX), Y6, Y10
	VPMADDWD  96(DX), Y7, Y11
	VPMADDWD  (BX), Y4, Y4
	VPMADDWD  32(BX), Y5, Y5
	VPMADDWD  64(BX), Y6, Y6
	VPMADDWD  96(BX), Y7, Y7
	VPADDD    Y8, Y0, Y0
	VPADDD    Y9, Y1, Y1
	VPADDD    Y10, Y0, Y0
	VPADDD    Y11, Y1, Y1
	VPADDD    Y4, Y2, Y2
	VPADDD    Y5, Y3, Y3
	VPADDD    Y6, Y2, Y2
	VPADDD    Y7, Y3, Y3
	ADDQ      $64, SI
	ADDQ      $128, DX
	ADDQ      $128, BX
	DECQ      CX
	JNZ       step

	VPADDD Y1, Y0, Y0
	VPADDD Y3, Y2, Y2
	TOTAL(Y0, X0, X1, DI)
	TOTAL(Y2, X2, X3, R11)
	ADDQ   $4, DI
	ADDQ   $4, R11
	DECQ   R9
	JNZ    row

	VZEROUPPER
	RET
