package expr

var dtypeNames = [...]string{"invalid", "f32", "f16", "bf16", "i32", "u8"}

// String returns the name of the type in the language.
func (t DType) String() string { return dtypeNames[t] }

// Bytes is the size of an element.
func (t DType) Bytes() int {
	switch t {
	case U8:
		return 1
	case F16, BF16:
		return 2
	}
	return 4
}

var paramTypeNames = [...]string{"f32", "i32", "u32", "u64", "bool"}

// String returns the name of the type in the language.
func (t ParamType) String() string { return paramTypeNames[t] }

var reduceNames = [...]string{"", "sum", "mean", "max", "min", "prod", "any", "all", "argmax", "argmin"}

// String returns the name of the reduction in the language, "" for none.
func (op ReduceOp) String() string { return reduceNames[op] }

var binaryNames = [...]string{
	Add: "+", Sub: "-", Mul: "*", Div: "/", Rem: "%",
	Lt: "<", Le: "<=", Gt: ">", Ge: ">=", Eq: "==", Ne: "!=",
	LogicAnd: "&&", LogicOr: "||", And: "&", Or: "|", Xor: "^", Shl: "<<", Shr: ">>",
}

// String returns the operator as written.
func (op BinaryOp) String() string { return binaryNames[op] }

var fnNames = [...]string{
	FnExp: "exp", FnLog: "log", FnLog1p: "log1p", FnExpm1: "expm1", FnTanh: "tanh", FnErf: "erf",
	FnSigmoid: "sigmoid", FnSqrt: "sqrt", FnRsqrt: "rsqrt", FnAbs: "abs", FnMin: "min", FnMax: "max",
	FnPow: "pow", FnFMA: "fma", FnFloor: "floor", FnCeil: "ceil", FnRound: "round", FnSign: "sign",
	FnIsNaN: "isnan", FnIsInf: "isinf", FnPhilox: "philox", FnUniform: "uniform",
}

// String returns the name of the intrinsic in the language.
func (f Fn) String() string { return fnNames[f] }
