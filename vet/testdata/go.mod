module example.com/vet

go 1.26.0

require github.com/kernelgen/kgen v0.0.0

replace github.com/kernelgen/kgen => ../..
