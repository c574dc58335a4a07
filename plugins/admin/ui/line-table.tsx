import { type Column, DataTable, timeText, visible } from "#plugin/ui"
import type { Line } from "./answers.ts"

/** Lines of the log, the youngest first. */
export const LineTable = ({ lines }: { lines: readonly Line[] }) => (
  <DataTable caption="Log" columns={COLUMNS} rows={lines.map((line, index) => ({ ...line, index }))} keyOf={({ index }) => index} />
)

const COLUMNS: Column<Line & { index: number }>[] = [
  { id: "at", label: "When", cell: ({ at }) => <time dateTime={at}>{timeText(at)}</time> },
  { id: "level", label: "Level", cell: ({ level }) => (level === "error" ? <strong class="down">error</strong> : level) },
  { id: "message", label: "Message", cell: ({ message }) => <div>{visible(message)}</div> },
  {
    id: "fields",
    label: "With",
    cell: ({ fields = {} }) => <code>{Object.entries(fields).map(([name, value]) => `${name}=${visible(textOf(value))} `)}</code>,
  },
]

const textOf = (value: unknown): string => (typeof value === "string" ? value : (JSON.stringify(value) ?? ""))
