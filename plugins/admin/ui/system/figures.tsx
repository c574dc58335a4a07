import type { ComponentChildren } from "preact"
import { Link } from "wouter"
import { exact, numberText, timeText } from "#plugin/ui"
import type { IngestionMinute, IngestionResponse } from "../../operation-responses.ts"

export interface Figure {
  label: string
  /** Undefined while it is being loaded. */
  value: ComponentChildren
  note?: ComponentChildren
  /** Page with the details. */
  href?: string
}

/** A row of figures, each of which can link to the page with its details. */
export const Figures = ({ label, figures }: { label: string; figures: readonly Figure[] }) => (
  <dl class="instrument strip strip-alone" aria-label={label}>
    {figures.map(({ label: name, value, note, href }) => (
      <div class="figure" key={name}>
        <dt class="figure-label">{href === undefined ? name : <Link href={href}>{name}</Link>}</dt>
        <dd>
          <span class="figure-value">{value ?? "–"}</span>
          <span class="figure-note">{note}</span>
        </dd>
      </div>
    ))}
  </dl>
)

export const rejectedOf = ({ dropped, refused_storage, refused_queue }: Omit<IngestionMinute, "at">): number =>
  Object.values(dropped).reduce((sum, count) => sum + count, 0) + refused_storage + refused_queue

export const hasNone = (minute: IngestionMinute): boolean => minute.accepted + rejectedOf(minute) === 0

const RECENT_MINUTES = 5

/** Returns the mean rate of the last complete minutes. The current minute is left out, because it would lower the rate. */
export function acceptedPerSecond({ data }: IngestionResponse): string {
  const recent = data.slice(-RECENT_MINUTES - 1, -1)
  const accepted = recent.reduce((sum, minute) => sum + minute.accepted, 0)
  const rate = accepted / Math.max(1, recent.length * 60)
  return numberText(rate, { maximumFractionDigits: rate < 0.1 ? 2 : rate < 10 ? 1 : 0 })
}

const HEIGHT = 100

/** Bar chart of events per minute: accepted events, with the rejected ones stacked above them. */
export function IngestChart({ minutes }: { minutes: readonly IngestionMinute[] }) {
  const bars = minutes.map((minute) => ({ at: minute.at, accepted: minute.accepted, rejected: rejectedOf(minute) }))
  const maximum = Math.max(1, ...bars.map(({ accepted, rejected }) => accepted + rejected))
  const [accepted, rejected] = [sumOf(bars, "accepted"), sumOf(bars, "rejected")]
  return (
    <figure class="ingest-chart">
      <svg
        viewBox={`0 0 ${bars.length * 10} ${HEIGHT}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`Events by minute: ${exact(accepted)} accepted, ${exact(rejected)} rejected, at most ${exact(maximum)} per minute`}
      >
        {bars.map(({ at, accepted, rejected }, index) => {
          const [lower, upper] = [(accepted / maximum) * HEIGHT, (rejected / maximum) * HEIGHT]
          return (
            <g key={at}>
              <title>{`${timeText(at)}: ${exact(accepted)} accepted, ${exact(rejected)} rejected`}</title>
              <rect class="kept" x={index * 10 + 1} width={8} y={HEIGHT - lower} height={lower} />
              <rect class="refused" x={index * 10 + 1} width={8} y={HEIGHT - lower - upper} height={upper} />
            </g>
          )
        })}
      </svg>
      <figcaption class="small quiet">
        <span class="key-kept" /> {exact(accepted)} accepted <span class="key-refused" /> {exact(rejected)} rejected; at most{" "}
        {exact(maximum === 1 && accepted + rejected === 0 ? 0 : maximum)} per minute
      </figcaption>
    </figure>
  )
}

const sumOf = <Name extends string>(rows: readonly Record<Name, number>[], name: Name): number =>
  rows.reduce((sum, row) => sum + row[name], 0)
