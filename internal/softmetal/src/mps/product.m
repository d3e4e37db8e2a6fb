/* What of MetalPerformanceShaders multiplies matrices: a library of its own, which a program
 * opens. Its rules are those of the framework's headers, and what drivers have been seen to
 * fail at. */
#include "commands.h"

BOOL MPSSupportsMTLDevice(id<MTLDevice> device) {
	const char *how = getenv("SOFTMETAL_MPS");
	return device != nil && (how == NULL || strcmp(how, "unsupported") != 0);
}

static NSUInteger size_of(MPSDataType type) {
	switch (type) {
	case MPSDataTypeFloat32: return 4;
	case MPSDataTypeFloat16: return 2;
	case MPSDataTypeBFloat16: soft_violation("a matrix of MPSDataTypeBFloat16, with which MPSMatrixMultiplication ends the process");
	default: soft_violation("a matrix of data type %lu, which the software Metal does not multiply", (unsigned long)type);
	}
}

@implementation MPSMatrixDescriptor
+ (instancetype)matrixDescriptorWithRows:(NSUInteger)rows columns:(NSUInteger)columns matrices:(NSUInteger)matrices rowBytes:(NSUInteger)row matrixBytes:(NSUInteger)matrix dataType:(MPSDataType)type {
	NSUInteger size = size_of(type);
	if (rows == 0 || columns == 0 || matrices == 0) soft_violation("%lu matrices of %lu x %lu elements", (unsigned long)matrices, (unsigned long)rows, (unsigned long)columns);
	if (row % size != 0 || row < columns * size) soft_violation("rowBytes %lu, for %lu elements of %lu bytes", (unsigned long)row, (unsigned long)columns, (unsigned long)size);
	if (matrix % row != 0 || matrix < rows * row) soft_violation("matrixBytes %lu, for %lu rows of %lu bytes", (unsigned long)matrix, (unsigned long)rows, (unsigned long)row);
	MPSMatrixDescriptor *d = [[[self alloc] init] autorelease];
	d->_rows = rows;
	d->_columns = columns;
	d->_matrices = matrices;
	d->_row = row;
	d->_matrix = matrix;
	d->_type = type;
	return d;
}
- (NSUInteger)rows {
	return _rows;
}
- (NSUInteger)columns {
	return _columns;
}
- (NSUInteger)matrices {
	return _matrices;
}
- (NSUInteger)rowBytes {
	return _row;
}
- (NSUInteger)matrixBytes {
	return _matrix;
}
- (MPSDataType)dataType {
	return _type;
}
/* The bytes that its matrices take. */
- (NSUInteger)bytes {
	return (_matrices - 1) * _matrix + (_rows - 1) * _row + _columns * size_of(_type);
}
@end

@implementation MPSMatrix
- (instancetype)initWithBuffer:(id<MTLBuffer>)buffer offset:(NSUInteger)offset descriptor:(MPSMatrixDescriptor *)what {
	if (buffer == nil || soft_serial(buffer) == 0) soft_violation("-[MPSMatrix initWithBuffer:offset:descriptor:] of nil or a buffer that was released");
	if (offset % size_of([what dataType]) != 0) soft_violation("-[MPSMatrix initWithBuffer:offset:descriptor:]: offset %lu, for elements of %lu bytes", (unsigned long)offset, (unsigned long)size_of([what dataType]));
	if (offset > [buffer length] || [what bytes] > [buffer length] - offset) soft_violation("-[MPSMatrix initWithBuffer:offset:descriptor:]: %lu bytes at offset %lu of a buffer of %lu", (unsigned long)[what bytes], (unsigned long)offset, (unsigned long)[buffer length]);
	_buffer = [(id)buffer retain];
	_offset = offset;
	_what = [what retain];
	return self;
}
- (id<MTLBuffer>)data {
	return _buffer;
}
- (NSUInteger)offset {
	return _offset;
}
- (MPSMatrixDescriptor *)what {
	return _what;
}
- (void)dealloc {
	[(id)_buffer release];
	[_what release];
	[super dealloc];
}
@end

@implementation MPSKernel
- (id<MTLDevice>)device {
	return _device;
}
- (NSString *)label {
	return _label;
}
- (void)setLabel:(NSString *)label {
	[label retain];
	[_label release];
	_label = label;
}
- (void)dealloc {
	[_label release];
	[super dealloc];
}
@end

/* Where the elements of one matrix of a batch lie. */
typedef struct grid {
	NSUInteger row, column, matrix; /* bytes from one to the next */
	NSUInteger rows, bytes;         /* rows in memory, of so many bytes */
	NSUInteger line;                /* bytes from one of them to the next */
} grid;

typedef struct product {
	MPSDataType type;
	NSUInteger m, n, k, batch;
	double alpha, beta;
	grid left, right, result;
} product;

static grid grid_of(MPSMatrixDescriptor *d, NSUInteger rows, NSUInteger columns, BOOL transposed) {
	NSUInteger size = size_of([d dataType]), line = [d rowBytes];
	grid g = {line, size, [d matrixBytes], rows, columns * size, line};
	if (transposed) g = (grid){size, line, [d matrixBytes], columns, rows * size, line};
	return g;
}

static float load(MPSDataType type, const char *at) { return type == MPSDataTypeFloat16 ? (float)*(const _Float16 *)at : *(const float *)at; }

static void store(MPSDataType type, char *at, float x) {
	if (type == MPSDataTypeFloat16)
		*(_Float16 *)at = (_Float16)x;
	else
		*(float *)at = x;
}

static void note(const grid *g, const char *at, int write) {
	for (NSUInteger i = 0; i < g->rows; i++) soft_note(at + i * g->line, g->bytes, write);
}

static void multiply(const void *what, char *const *at) {
	const product *p = what;
	const grid *l = &p->left, *r = &p->right, *c = &p->result;
	for (NSUInteger z = 0; z < p->batch; z++) {
		const char *left = at[0] + z * l->matrix, *right = at[1] + z * r->matrix;
		char *result = at[2] + z * c->matrix;
		note(l, left, 0);
		note(r, right, 0);
		if (p->beta != 0) note(c, result, 0);
		note(c, result, 1);
		for (NSUInteger i = 0; i < p->m; i++)
			for (NSUInteger j = 0; j < p->n; j++) {
				float sum = 0;
				for (NSUInteger k = 0; k < p->k; k++)
					sum += load(p->type, left + i * l->row + k * l->column) * load(p->type, right + k * r->row + j * r->column);
				char *out = result + i * c->row + j * c->column;
				store(p->type, out, (float)p->alpha * sum + (p->beta != 0 ? (float)p->beta * load(p->type, out) : 0));
			}
	}
}

@implementation MPSMatrixMultiplication
- (instancetype)initWithDevice:(id<MTLDevice>)device transposeLeft:(BOOL)left transposeRight:(BOOL)right resultRows:(NSUInteger)m resultColumns:(NSUInteger)n interiorColumns:(NSUInteger)k alpha:(double)alpha beta:(double)beta {
	if (!MPSSupportsMTLDevice(device)) soft_violation("MPSMatrixMultiplication on a device that MPSSupportsMTLDevice does not name");
	if (m == 0 || n == 0 || k == 0) soft_violation("a product of %lu x %lu with %lu interior columns", (unsigned long)m, (unsigned long)n, (unsigned long)k);
	_device = device;
	_left = left;
	_right = right;
	_m = m;
	_n = n;
	_k = k;
	_batch = 1;
	_alpha = alpha;
	_beta = beta;
	return self;
}
- (NSUInteger)batchSize {
	return _batch;
}
- (void)setBatchSize:(NSUInteger)n {
	_batch = n;
}
- (void)check:(MPSMatrix *)x name:(const char *)name rows:(NSUInteger)rows columns:(NSUInteger)columns type:(MPSDataType)type {
	MPSMatrixDescriptor *d = [x what];
	if (x == nil) soft_violation("MPSMatrixMultiplication: the %s matrix is nil", name);
	if ([d dataType] != type) soft_violation("MPSMatrixMultiplication: the %s matrix has another type than the result", name);
	if ([d rows] < rows || [d columns] < columns || [d matrices] < _batch) soft_violation("MPSMatrixMultiplication: the %s matrix is %lu of %lu x %lu, %lu of %lu x %lu are multiplied", name, (unsigned long)[d matrices], (unsigned long)[d rows], (unsigned long)[d columns], (unsigned long)_batch, (unsigned long)rows, (unsigned long)columns);
	if ([d rowBytes] % 16 != 0 || [x offset] % 16 != 0) soft_violation("MPSMatrixMultiplication: the %s matrix has rows of %lu bytes at offset %lu: its kernels load 16 bytes at a time (\"Invalid device load\")", name, (unsigned long)[d rowBytes], (unsigned long)[x offset]);
}
- (void)encodeToCommandBuffer:(id<MTLCommandBuffer>)commands leftMatrix:(MPSMatrix *)left rightMatrix:(MPSMatrix *)right resultMatrix:(MPSMatrix *)result {
	MPSDataType type = [[result what] dataType];
	[self check:result name:"result" rows:_m columns:_n type:type];
	[self check:left name:"left" rows:_left ? _k : _m columns:_left ? _m : _k type:type];
	[self check:right name:"right" rows:_right ? _n : _k columns:_right ? _k : _n type:type];
	product *p = calloc(1, sizeof *p);
	if (p == NULL) abort();
	*p = (product){type, _m, _n, _k, _batch, _alpha, _beta, grid_of([left what], _m, _k, _left), grid_of([right what], _k, _n, _right), grid_of([result what], _m, _n, NO)};
	SoftComputeEncoder *e = (SoftComputeEncoder *)[commands computeCommandEncoder];
	[e setLabel:[self label]];
	[e call:(call){"MPSMatrixMultiplication", multiply, p}
	    buffers:(const id[]){[left data], [right data], [result data]}
	    offsets:(const NSUInteger[]){[left offset], [right offset], [result offset]}];
	[e endEncoding];
}
@end
