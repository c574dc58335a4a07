import { closeSync, fstatSync, ftruncateSync, openSync, writeSync } from "node:fs"
import { isObject } from "#plugin/worker"
import { API_TABLES } from "../../sources/ga4/api-tables.ts"

/** Stores a page of a report in the file of its table. Runs in the worker, because a page has up to some megabytes of JSON. */
export interface PageTask {
  do: "page"
  /** Name of the table. */
  table: string
  /** Response of the API. */
  body: Uint8Array
  path: string
  /** Size of the file before the page. What an interrupted fetch has written behind it is overwritten. */
  size: number
}

export interface StoredPage {
  rows: number
  /** Rows of the whole report. */
  total: number
  /** Size of the file with the page. */
  size: number
  /** Days of the rows, such as `20261121`. Absent without rows. */
  days?: { first: string; last: string }
  timezone?: string
  /** What Google says about the exactness of the report. */
  notes: PageNote[]
}

export type PageNote = "sampled" | "thresholded" | "other_rows"

/** Returns undefined for a response that is not the requested report. */
export function storePage({ table: name, body, path, size }: PageTask): StoredPage | undefined {
  const report = jsonIn(body)
  const table = API_TABLES.find((one) => one.name === name)
  if (!report || !table) return undefined
  const columns = ["date", ...Object.keys(table.dimensions), ...Object.keys(table.metrics)]
  if (Bun.deepEquals([...headerOf(report.dimensionHeaders), ...headerOf(report.metricHeaders)], columns) === false) return undefined
  const rows = Array.isArray(report.rows) ? (report.rows as unknown[]) : []
  const lines: string[] = []
  let [first, last] = ["9", ""]
  for (const row of rows) {
    if (!isObject(row)) return undefined
    const values = [...valuesOf(row.dimensionValues), ...valuesOf(row.metricValues)]
    if (values.length !== columns.length) return undefined
    const [date = ""] = values
    if (date < first) first = date
    if (date > last) last = date
    lines.push(`${JSON.stringify(Object.fromEntries(columns.map((column, index) => [column, values[index]])))}\n`)
  }
  const metadata = isObject(report.metadata) ? report.metadata : {}
  return {
    rows: rows.length,
    total: typeof report.rowCount === "number" ? report.rowCount : rows.length,
    size: append(path, size, lines.join("")),
    ...(rows.length > 0 && { days: { first, last } }),
    ...(typeof metadata.timeZone === "string" && { timezone: metadata.timeZone }),
    notes: notesOf(metadata),
  }
}

function jsonIn(body: Uint8Array): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(new TextDecoder().decode(body))
    return isObject(value) ? value : undefined
  } catch {
    return undefined
  }
}

const listOf = (value: unknown): Record<string, unknown>[] => (Array.isArray(value) ? (value as unknown[]).filter(isObject) : [])
const headerOf = (value: unknown): string[] => listOf(value).map(({ name }) => String(name))
const valuesOf = (value: unknown): string[] => listOf(value).map(({ value: text }) => String(text ?? ""))

function notesOf({ samplingMetadatas, subjectToThresholding, dataLossFromOtherRow }: Record<string, unknown>): PageNote[] {
  return [
    ...(listOf(samplingMetadatas).length > 0 ? (["sampled"] as const) : []),
    ...(subjectToThresholding === true ? (["thresholded"] as const) : []),
    ...(dataLossFromOtherRow === true ? (["other_rows"] as const) : []),
  ]
}

/** Writes a text at the given size of a file, which it thereby ends. Returns the new size. */
function append(path: string, size: number, text: string): number {
  const file = openSync(path, "a", 0o600)
  try {
    ftruncateSync(file, size)
    const bytes = new TextEncoder().encode(text)
    for (let at = 0; at < bytes.length; ) at += writeSync(file, bytes, at)
    return fstatSync(file).size
  } finally {
    closeSync(file)
  }
}
