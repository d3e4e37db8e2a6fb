package softmetal

import (
	"strings"
	"testing"
)

// The header has what the tables list, with types of C, and nothing of what they mark as
// not there.
func TestHeader(t *testing.T) {
	text, err := Header()
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"- (id<MTLLibrary>)newLibraryWithSource:(NSString *)a0 options:(MTLCompileOptions *)a1 error:(NSError **)a2;",
		"- (void)dispatchThreadgroups:(MTLSize)a0 threadsPerThreadgroup:(MTLSize)a1;",
		"+ (instancetype)stringWithUTF8String:(const char *)a0;",
		"@protocol MTLComputeCommandEncoder <MTLCommandEncoder>",
		"@protocol MTLBuffer <MTLResource>",
		"\tMTLDispatchTypeConcurrent = 1ul,",
		"\tMTLResourceStorageModePrivate = 32ul,",
		"typedef void (^MTLCommandBufferHandler)(id<MTLCommandBuffer>);",
		"static inline MTLSize MTLSizeMake(NSUInteger a0, NSUInteger a1, NSUInteger a2) { return (MTLSize){a0, a1, a2}; }",
		"extern NSArray * MTLCopyAllDevices(void);",
	} {
		if !strings.Contains(text, want+"\n") {
			t.Errorf("the header has not %q", want)
		}
	}
	for _, bad := range []string{"newComputePipelineStateWithDescriptor:error:", "MTLTexture;", "_Nullable", "ObjectType)"} {
		if strings.Contains(text, bad) {
			t.Errorf("the header has %q", bad)
		}
	}
}

// Each selector that the bridge and its software twin declare as Metal's is in the tables:
// the library does not build otherwise (-Werror=objc-method-access), which tests/metal does.
func TestTables(t *testing.T) {
	members, constants, err := readTables()
	if err != nil {
		t.Fatal(err)
	}
	if len(members) < 2000 || len(constants) < 500 {
		t.Errorf("%d selectors, %d constants", len(members), len(constants))
	}
}
