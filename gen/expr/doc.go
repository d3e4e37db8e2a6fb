// Package expr is the spec language: it parses and checks expressions over
// named axes and gives Programs, the checked form that the oracle, the
// gradient and the planner start from. It takes a parsed spec file and reports
// every mistake with its position; it knows no target and no schedule.
package expr
