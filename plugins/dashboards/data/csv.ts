import { csvLine, isObject } from "#plugin"

/** Member of the data with the rows, by type. Other types have the first list of objects. */
const ROWS: Readonly<Record<string, string>> = {
  timeseries: "points",
  breakdown: "rows",
  map: "rows",
  comparison: "rows",
  goals: "goals",
  funnel: "steps",
  realtime: "minutes",
  annotations: "data",
}
type Cell = string | number | boolean | undefined

/** Returns the figures of a widget: its rows, or one row of its figures. Nested members have columns such as `comparison.visitors`. */
export function csvOf(type: string, data: object): string {
  const records = recordsOf(type, data)
  const columns = [...new Set(records.flatMap((record) => Object.keys(record)))]
  return [csvLine(columns), ...records.map((record) => csvLine(columns.map((column) => record[column])))].join("")
}

function recordsOf(type: string, data: object): Record<string, Cell>[] {
  const entries = Object.entries(data)
  const listed = entries.find(([name, value]) => (ROWS[type] === undefined ? isTable(value) : name === ROWS[type]))
  if (listed) return (listed[1] as object[]).map((row) => flat(withoutFacts(row)))
  const { metrics, comparison, ...rest } = data as { metrics?: object; comparison?: { metrics?: object } }
  if (metrics) return [{ ...flat(metrics), ...(comparison?.metrics && flat(comparison.metrics, "comparison.")) }]
  return [flat(rest)]
}

const isTable = (value: unknown): boolean => Array.isArray(value) && value.length > 0 && value.every(isObject)

/** Rows of a comparison contain whole reports, of which only the figures are shown. */
const withoutFacts = (row: object): object => {
  const { data, ...rest } = row as { data?: { metrics?: object } }
  return data?.metrics ? { ...rest, ...data.metrics } : row
}

function flat(value: object, prefix = ""): Record<string, Cell> {
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, inner]): [string, Cell][] => {
      if (isObject(inner)) return Object.entries(flat(inner, `${prefix}${name}.`))
      if (Array.isArray(inner)) return [[prefix + name, inner.map(String).join(" ")]]
      return [[prefix + name, inner === null ? undefined : (inner as Cell)]] // JSON has no other scalars
    }),
  )
}
