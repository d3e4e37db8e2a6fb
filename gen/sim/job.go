package sim

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"os"
)

// Buffer is one argument of a job.
type Buffer struct {
	Index    int    // [[buffer(n)]]
	Data     []byte // initial bytes; may be empty
	Writable bool   // its bytes after the run are wanted
	// Offset places the first byte so far past an address that is a multiple
	// of 256, as a view into a larger array lies.
	Offset int
	// Ahead is how many bytes of the buffer lie before Data. Nobody sets or wants them,
	// and they take no memory unless the kernel touches them.
	Ahead int
}

// Job is one dispatch of a kernel.
type Job struct {
	Kernel  string
	Buffers []Buffer
	// Threadgroup holds the bytes of each [[threadgroup(n)]] argument.
	Threadgroup []int
	Grid        [3]int // threadgroups; a zero in any means that nothing runs
	Group       [3]int // threads of a threadgroup, 1 to 1024 in all
	// DeviceOrder makes the thread sanitizer look at device memory alone, and
	// lets only those barriers order it that name mem_device. Without it any
	// barrier that names a memory orders all: a kernel that hands device memory
	// from thread to thread over a barrier of mem_threadgroup shows no race.
	DeviceOrder bool
}

// encode writes the job as include/rt/job.cpp reads it.
func (j *Job) encode() ([]byte, error) {
	var w bytes.Buffer
	u32 := func(v int) { w.Write(binary.LittleEndian.AppendUint32(nil, uint32(v))) }
	u64 := func(v int) { w.Write(binary.LittleEndian.AppendUint64(nil, uint64(v))) }
	u32(len(j.Kernel))
	w.WriteString(j.Kernel)
	u32(boolean(j.DeviceOrder))
	for _, n := range append(j.Grid[:], j.Group[:]...) {
		if n < 0 || n > math.MaxInt32 {
			return nil, fmt.Errorf("kernel %s: extent %d of grid or group: 0 to 2147483647 are possible", j.Kernel, n)
		}
		u32(n)
	}
	u32(len(j.Buffers))
	for _, b := range j.Buffers {
		if b.Index < 0 || b.Index >= maxSlots || b.Offset < 0 || b.Ahead < 0 {
			return nil, fmt.Errorf("kernel %s: buffer index %d, offset %d, %d bytes ahead: the index is 0 to %d and neither of the others negative", j.Kernel, b.Index, b.Offset, b.Ahead, maxSlots-1)
		}
		u32(b.Index)
		u32(boolean(b.Writable))
		u64(b.Offset)
		u64(b.Ahead)
		u64(len(b.Data))
		w.Write(b.Data)
	}
	u32(len(j.Threadgroup))
	for i, n := range j.Threadgroup {
		u32(i)
		u64(n)
	}
	return w.Bytes(), nil
}

func boolean(b bool) int {
	if b {
		return 1
	}
	return 0
}

// readResult takes the writable buffers, which stand in the order of their
// indices, out of the file that the program wrote.
func (j *Job) readResult(path string) ([][]byte, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	out := make([][]byte, len(j.Buffers))
	for index := range maxSlots {
		for i, b := range j.Buffers {
			if b.Index != index || !b.Writable {
				continue
			}
			if len(data) < len(b.Data) {
				return nil, fmt.Errorf("kernel %s: the result file is cut short", j.Kernel)
			}
			out[i], data = data[:len(b.Data):len(b.Data)], data[len(b.Data):]
		}
	}
	return out, nil
}
