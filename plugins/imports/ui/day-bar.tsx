import { type Column, counted, DataTable, dayText, exact, rangeText } from "#plugin/ui"
import type { ImportResponse, PreviewResponse } from "../responses.ts"

/** What becomes of a day: imported, recorded by Footfall, held by another import, left out, or without rows. */
type DayKind = "imported" | "native" | "masked" | "skipped" | "empty"

interface DaySpan {
  from: string
  to: string
  kind: DayKind
  /** Reason in words. */
  note: string
}

const KIND_LABELS: Readonly<Record<DayKind, string>> = {
  imported: "Imported",
  native: "Recorded by Footfall",
  masked: "Held by another import",
  skipped: "Left out",
  empty: "No rows",
}

const REASONS: Readonly<Record<string, string>> = {
  native: "Recorded by Footfall",
  beyond_retention: "Older than the retention of the site",
  in_future: "In the future",
}

const DAY_MS = 86_400_000
const numberOf = (day: string): number => Math.round(Date.parse(day) / DAY_MS)
const dayOf = (number: number): string => new Date(number * DAY_MS).toISOString().slice(0, 10)
const lengthOf = ({ from, to }: { from: string; to: string }): number => numberOf(to) - numberOf(from) + 1

const spanOf = (from: string, to: string, reason: string): DaySpan => ({
  ...{ from, to, note: REASONS[reason] ?? reason },
  kind: reason === "native" ? "native" : "skipped",
})

/** Returns the days of a preview in order. Days between its first and its last one that nothing excludes are imported. */
export function previewSpans({ date_start, date_end, overlap }: Pick<PreviewResponse, "date_start" | "date_end" | "overlap">): DaySpan[] {
  if (date_start === null || date_end === null) return []
  const excluded: DaySpan[] = [
    ...overlap.days_skipped.map(({ from, to, reason }) => spanOf(from, to, reason)),
    ...overlap.days_masked.map(({ from, to, import_id }) => ({ from, to, kind: "masked" as const, note: `Held by import ${import_id}` })),
  ]
  return filled(excluded, { from: date_start, to: date_end }, "imported")
}

/** Returns the days of an import in order. */
export function importSpans({ days }: Pick<ImportResponse, "days">): DaySpan[] {
  const [first, last] = [days[0], days.at(-1)]
  if (!first || !last) return []
  const spans = days.map(({ from, to, state, reason, masked_by }): DaySpan => {
    if (state === "skipped") return spanOf(from, to, reason ?? "")
    return state === "masked"
      ? { from, to, kind: "masked", note: masked_by === null ? "Held by another import" : `Held by import ${masked_by}` }
      : { from, to, kind: "imported", note: "" }
  })
  return filled(spans, { from: first.from, to: last.to }, "empty")
}

/** Fills the days between spans. */
function filled(spans: readonly DaySpan[], range: { from: string; to: string }, kind: DayKind): DaySpan[] {
  const all: DaySpan[] = []
  let next = numberOf(range.from)
  const fill = (until: number) => until >= next && all.push({ from: dayOf(next), to: dayOf(until), kind, note: "" })
  for (const span of spans.toSorted((a, b) => (a.from < b.from ? -1 : 1))) {
    fill(numberOf(span.from) - 1)
    all.push(span)
    next = numberOf(span.to) + 1
  }
  fill(numberOf(range.to))
  return all
}

interface DayBarProps {
  spans: readonly DaySpan[]
  /** Number of days with rows that take part, if it is known to differ from the length of the spans. */
  effective?: number
}

/** A bar with all days from the first to the last, coloured by what becomes of them, with the same in words and as a table. */
export function DayBar({ spans, effective }: DayBarProps) {
  const [first, last] = [spans[0], spans.at(-1)]
  if (!first || !last) return null
  const days = Map.groupBy(spans, ({ kind }) => kind)
  const total = (kind: DayKind) =>
    kind === "imported" && effective !== undefined ? effective : (days.get(kind) ?? []).reduce((sum, span) => sum + lengthOf(span), 0)
  const kinds = (Object.keys(KIND_LABELS) as DayKind[]).filter((kind) => days.has(kind))
  const label = `Days from ${rangeText(first.from, last.to)}: ${kinds.map((kind) => `${KIND_LABELS[kind].toLowerCase()} ${exact(total(kind))}`).join(", ")}`
  return (
    <div class="import-days">
      <div class="import-days-spans" role="img" aria-label={label}>
        {spans.map((span) => (
          <span
            key={span.from}
            data-kind={span.kind}
            style={{ flexGrow: lengthOf(span) }}
            title={`${rangeText(span.from, span.to)}: ${span.note || KIND_LABELS[span.kind]}`}
          />
        ))}
      </div>
      <div class="import-days-ends small quiet" aria-hidden="true">
        <span>{dayText(first.from, { weekday: undefined })}</span>
        <span>{dayText(last.to, { weekday: undefined })}</span>
      </div>
      <ul class="import-days-key">
        {kinds.map((kind) => (
          <li key={kind}>
            <span class="import-days-swatch" data-kind={kind} aria-hidden="true" />
            {KIND_LABELS[kind]} <strong>{counted(total(kind), "day")}</strong>
          </li>
        ))}
      </ul>
      {spans.length > 1 && (
        <details>
          <summary>Days as a table</summary>
          <div class="details-body">
            <DataTable caption="Days of the import" columns={COLUMNS} rows={spans} keyOf={({ from }) => from} />
          </div>
        </details>
      )}
    </div>
  )
}

const COLUMNS: Column<DaySpan>[] = [
  { id: "days", label: "Days", cell: ({ from, to }) => <span class="whole">{rangeText(from, to)}</span> },
  { id: "count", label: "Number", number: true, cell: (span) => exact(lengthOf(span)) },
  { id: "kind", label: "Result", cell: ({ kind, note }) => <span class="whole">{note || KIND_LABELS[kind]}</span> },
]
