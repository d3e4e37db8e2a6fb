// Package gen ties the stages of the generator together: it finds the module,
// loads and checks its specs, and renders every file that they give. It takes a
// directory and returns files in memory and a description of each kernel; what
// becomes of the files is the business of package out.
package gen
