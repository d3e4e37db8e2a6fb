package goapi

import "testing"

func TestArgumentNames(t *testing.T) {
	for name, want := range map[string]string{
		"x": "x", "ignore_index": "ignoreIndex", "W": "w", "Lout": "lout", "T": "t", "d_x": "dX", "x_gelu": "xGELU",
		"type": "type_", "range": "range_", "len": "len_", "nil": "nil_", "int": "int_", "error": "error_",
		"b": "b", "dev": "dev_", "call": "call_", "runtime": "runtime_", "init": "init_", "main": "main_",
		"__shared__": "shared", "_a": "a", "err": "err_", "new": "new_", "min": "min_",
	} {
		if got := new(scope).name(name); got != want {
			t.Errorf("%s becomes %s, want %s", name, got, want)
		}
	}
}

func TestArgumentNamesDoNotMeet(t *testing.T) {
	var s scope
	for _, c := range []struct{ name, want string }{
		{"W", "w"}, {"w", "w_"}, {"w_", "w__"}, {"a_b", "aB"}, {"aB", "aB_"}, {"len", "len_"}, {"len_", "len__"},
	} {
		if got := s.name(c.name); got != c.want {
			t.Errorf("%s becomes %s, want %s", c.name, got, c.want)
		}
	}
}

// C060: no kernel may vanish because of what its file is called.
func TestFileBase(t *testing.T) {
	for name, want := range map[string]string{
		"gelu": "gelu", "layer_norm": "layer_norm", "a_unix": "a_unix", "y_cuda": "y_cuda", "linux": "linux",
		"scatter_windows": "scatter_windows_op", "loss_test": "loss_test_op", "pool_arm": "pool_arm_op",
		"pool_arm64": "pool_arm64_op", "foo_js": "foo_js_op", "wait_wasm": "wait_wasm_op", "x_darwin": "x_darwin_op",
		"mask_linux": "mask_linux_op", "x_linux_amd64": "x_linux_amd64_op", "_z": "op_z", "gelu_ref": "gelu_ref_op",
		"kernels_cgo": "kernels_cgo_op", "kernels_nocgo": "kernels_nocgo_op", "x_linux_op": "x_linux_op_op", "_linux": "op_linux_op",
		"test": "test",
	} {
		if got := FileBase(name); got != want {
			t.Errorf("FileBase(%s) = %s, want %s", name, got, want)
		}
	}
}
