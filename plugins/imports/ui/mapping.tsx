import { useState } from "preact/hooks"
import { Button, percent, SelectField, visible } from "#plugin/ui"
import type { ColumnMapping, MappedColumn, Mapping } from "../responses.ts"
import { wordsOf } from "./answers.ts"

/** Fields to which the columns of events can be mapped, and those of totals. */
const EVENT_FIELDS = [
  ...["timestamp", "url", "path", "hostname", "event_name", "title", "referrer", "visitor_id", "visit_id", "user_id", "user_agent", "ip"],
  ...["country", "region", "city", "language", "browser", "os", "device"],
  ...["utm_source", "utm_medium", "utm_campaign", "utm_term", "utm_content", "revenue", "currency"],
]
const TOTAL_FIELDS = ["date", "visitors", "visits", "pageviews", "bounces", "visit_duration", "events"]
const FIELDS = { events: EVENT_FIELDS, daily_totals: TOTAL_FIELDS, daily_dimension: ["value", ...TOTAL_FIELDS] } as const
const TIME_FORMATS = ["auto", "iso", "unix", "unix_ms", "YYYYMMDD", "dd/MM/yyyy HH:mm", "MM/dd/yyyy HH:mm"]
/** Below this, a proposed column is marked to be checked. */
const SURE = 0.8

interface MappingEditorProps {
  of: ColumnMapping
  /** Columns of the files. */
  columns: readonly string[]
  onMapping(mapping: ColumnMapping): void
}

/** Shows which column of a table holds which field, as proposed or chosen, and lets the user change it. */
export function MappingEditor({ of, columns, onMapping }: MappingEditorProps) {
  const { mapping, kind } = of
  const fields = FIELDS[kind]
  const [more, setMore] = useState<readonly string[]>([])
  const mapped = fields.filter((field) => columnOf(mapping, field) || more.includes(field))
  const free = fields.filter((field) => !mapped.includes(field))
  const change = (field: string, changes: Partial<MappedColumn> | undefined) => {
    const { [field]: before, ...others } = mapping
    const next = changes && ({ ...(before as MappedColumn | undefined), ...changes } as MappedColumn) // a new one names its column
    onMapping(accepted({ ...of, mapping: next?.column ? { ...others, [field]: next } : others }))
  }
  return (
    <div class="stack">
      <p class="small quiet">The columns were proposed from their names and values. Check them before you continue.</p>
      <div class="mapping-rows">
        {mapped.map((field) => {
          const one = columnOf(mapping, field)
          return (
            <div key={field} class="mapping-row">
              <SelectField
                label={wordsOf(field)}
                value={one?.column ?? ""}
                options={[{ value: "", label: "Not imported" }, ...columns.map((column) => ({ value: column, label: visible(column) }))]}
                {...(one?.confidence !== undefined && { note: sureness(one.confidence) })}
                onValue={(column) => change(field, column === "" ? undefined : { column })}
              />
              {(field === "timestamp" || field === "date") && one && (
                <SelectField
                  label="Format of the time"
                  value={one.format ?? "auto"}
                  options={TIME_FORMATS.map((format) => ({ value: format, label: format === "auto" ? "Automatic" : format }))}
                  onValue={(format) => change(field, { format })}
                />
              )}
            </div>
          )
        })}
      </div>
      {mapping.props && Object.keys(mapping.props).length > 0 && (
        <p class="small">
          Properties:{" "}
          {Object.entries(mapping.props)
            .map(([key, { column }]) => `${visible(key)} from ${visible(column)}`)
            .join(", ")}
        </p>
      )}
      {free.length > 0 && (
        <div class="row">
          {free.slice(0, MAX_OFFERED).map((field) => (
            <Button key={field} kind="quiet" icon="plus" onClick={() => setMore([...more, field])}>
              {wordsOf(field)}
            </Button>
          ))}
        </div>
      )}
    </div>
  )
}

/** Number of fields that are offered at once. */
const MAX_OFFERED = 8

/** Returns the column of a field. A mapping that was sent may name it directly. */
function columnOf(mapping: Mapping, field: string): MappedColumn | undefined {
  const one: unknown = mapping[field]
  return typeof one === "string" ? { column: one } : (one as MappedColumn | undefined) // by the form of a mapping
}

const sureness = (confidence: number): string =>
  confidence >= SURE ? `Proposed, ${percent(confidence * 100)} certain` : `Check this: only ${percent(confidence * 100)} certain`

/** Returns a mapping as the options of a run name it: without what only a proposal has. */
export function accepted({ kind, dimension, mapping: { props, ...fields } }: ColumnMapping): ColumnMapping {
  const bare = (all: Readonly<Record<string, MappedColumn>>) =>
    Object.fromEntries(Object.entries(all).map(([field, { confidence: _, ...column }]) => [field, column] as const))
  const mapping: Mapping = { ...bare(fields as Record<string, MappedColumn>), ...(props && { props: bare(props) }) } // without `props`
  return { kind, ...(dimension !== undefined && { dimension }), mapping }
}
