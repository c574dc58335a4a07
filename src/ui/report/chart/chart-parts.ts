/** What a chart needs only once someone reads it closely, as one part: every part costs the first view a line in its list. */
export { drawImported, drawNotes } from "./chart-marks.ts"
export { default as ChartTable } from "./chart-table.tsx"
export { daysBetween, hoursBetween } from "./days-between.ts"
export { default as ReadOut } from "./read-out.tsx"
