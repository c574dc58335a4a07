import { dayText, EmptyState, exact, percent, visible } from "#plugin/ui"
import type { RetentionResponse } from "../responses.ts"

type Row = RetentionResponse["rows"][number]
type Cell = Row["cells"][number]

interface GridProps {
  of: RetentionResponse
  by: string
}

/** Grid with one row per cohort and a number in every cell, darker the more people came back. */
export function Triangle({
  of: { rows },
  by,
  shows,
}: Omit<GridProps, "of"> & { of: Pick<RetentionResponse, "rows">; shows: "rate" | "count" }) {
  const periods = rows[0]?.cells.length ?? 0
  if (rows.every(({ size }) => size === 0)) return <EmptyState>No one started in this time.</EmptyState>
  const states = new Set(rows.flatMap(({ cells }) => cells.map(({ state }) => state)))
  const hasYears = new Set(rows.map(({ cohort }) => cohort.slice(0, 4))).size > 1
  return (
    <>
      <div class="table-wrap" tabIndex={0} role="region" aria-label="Retention by cohort">
        <table class="table retention-grid">
          <caption class="visually-hidden">Retention by cohort: {shows === "rate" ? "percent of the cohort" : "number of people"}</caption>
          <thead>
            <tr>
              <th scope="col">Started</th>
              <th scope="col" class="number">
                People
              </th>
              {Array.from({ length: periods }, (_, period) => (
                <th key={period} scope="col" class="number">
                  <span class="visually-hidden">{by} </span>
                  {period}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map((row) => (
              <tr key={`${row.cohort} ${row.value ?? ""}`}>
                <th scope="row">
                  {cohortText(row.cohort, by, hasYears)}
                  {row.value !== undefined && <span class="small quiet"> {visible(row.value)}</span>}
                </th>
                <td class="number">{row.size === null ? <Hidden /> : exact(row.size)}</td>
                {row.cells.map((cell) => (
                  <GridCell key={cell.period} of={cell} shows={shows} />
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <Key of={states} />
    </>
  )
}

/** What the patterns mean, as far as they occur. */
const Key = ({ of }: { of: ReadonlySet<Cell["state"]> }) => (
  <p class="small quiet retention-key">
    {KEYS.filter(([state]) => of.has(state)).map(([state, text]) => (
      <span key={state} data-state={state}>
        {text}
      </span>
    ))}
  </p>
)

const KEYS = [
  ["partial", "still running"],
  ["unobservable", "can't be known in this identity mode"],
  ["suppressed", "too few people to show"],
] as const

const Hidden = () => (
  <span title="Too few people to show">
    <span aria-hidden="true">·</span>
    <span class="visually-hidden">hidden</span>
  </span>
)

const STATE_TEXTS: Readonly<Record<Cell["state"], string>> = {
  complete: "",
  partial: "still running",
  future: "not begun",
  unobservable: "can't be known",
  suppressed: "too few people to show",
}

function GridCell({ of: { count, rate, state }, shows }: { of: Cell; shows: "rate" | "count" }) {
  if (state === "future") return <td class="number" data-state="future" />
  const isShown = count !== null
  const text = isShown ? (shows === "rate" ? (rate === null ? "–" : percent(rate)) : exact(count)) : ""
  return (
    <td
      class="number"
      data-state={state}
      data-heat={isShown ? heatOf(rate) : undefined}
      title={
        isShown
          ? `${exact(count)} people, ${percent(rate ?? undefined)}${state === "partial" ? ", still running" : ""}`
          : STATE_TEXTS[state]
      }
    >
      {text}
      {state !== "complete" && <span class="visually-hidden">{STATE_TEXTS[state]}</span>}
    </td>
  )
}

/** Returns one of five steps of colour. */
const heatOf = (rate: number | null): number => (rate === null || rate === 0 ? 0 : Math.min(5, Math.ceil(rate / 20)))

function cohortText(day: string, by: string, hasYears: boolean): string {
  const year = hasYears ? ("numeric" as const) : undefined
  return dayText(day, by === "month" ? { weekday: undefined, day: undefined, month: "long", year } : { weekday: undefined, year })
}

/** Curve of the average retention by period, with its numbers in the table below. */
export function Averages({ of: { average }, by }: GridProps) {
  const known = average.filter(({ rate, based_on_people }) => rate !== null && based_on_people > 0)
  if (known.length < 2) return null
  const last = average.length - 1
  const x = (period: number) => (period / last) * 100
  const y = (rate: number) => 100 - rate
  const points = known.map(({ period, rate }) => `${x(period)},${y(rate!)}`) // known rates only
  const second = known.find(({ period }) => period === 1)
  return (
    <figure class="retention-curve">
      <div class="retention-scale small quiet" aria-hidden="true">
        <span>100%</span>
        <span>50%</span>
        <span>0%</span>
      </div>
      <svg viewBox="0 0 100 100" preserveAspectRatio="none" role="img" aria-label={`Average retention over ${known.length} ${by}s`}>
        {[0, 50, 100].map((line) => (
          <line key={line} x1="0" x2="100" y1={line} y2={line} class="grid-line" vector-effect="non-scaling-stroke" />
        ))}
        <polyline points={points.join(" ")} vector-effect="non-scaling-stroke" />
      </svg>
      <figcaption class="small">
        {second ? (
          <>
            On average <strong>{percent(second.rate!)}</strong> came back in the {by} after they started.
          </>
        ) : (
          "Average of complete cells, weighted by people."
        )}{" "}
        <span class="quiet">Based on complete cells only.</span>
      </figcaption>
    </figure>
  )
}

/** Returns the shown numbers as CSV. Text that a spreadsheet would take for a formula begins with an apostrophe. */
export function csvOf({ rows }: RetentionResponse): string {
  const hasValues = rows.some(({ value }) => value !== undefined)
  const head = ["cohort", ...(hasValues ? ["value"] : []), "size", "period", "count", "rate", "state"]
  const lines = rows.flatMap((row) =>
    row.cells.map(({ period, count, rate, state }) => [
      row.cohort,
      ...(hasValues ? [row.value ?? ""] : []),
      row.size ?? "",
      period,
      count ?? "",
      rate ?? "",
      state,
    ]),
  )
  return [head, ...lines].map((cells) => `${cells.map(cellText).join(",")}\r\n`).join("")
}

const cellText = (cell: string | number): string =>
  typeof cell === "number" ? String(cell) : `"${(/^[=+\-@\t\r＝＋－＠]/.test(cell) ? `'${cell}` : cell).replaceAll('"', '""')}"`
