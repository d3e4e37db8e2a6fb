/* kgen_end.h: ends the pass of one instruction set. No include guard. */
#undef KG_ISA
#undef KG_W
#undef KG_SUFFIX
#undef KG_MR
#undef KG_NR
#undef KG_KC
#undef KG_MC
#undef KG_NC
