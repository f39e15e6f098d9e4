// Package test is the root of the module of the tests that need more than the product's module: real servers, the
// simulator, planted faults, and the programs of others that they run.
package test
