import { exact, timeText } from "#plugin/ui"
import type { Ingestion, IngestionMinute } from "./answers.ts"

export const rejectedOf = ({ dropped, refused_storage, refused_queue }: Omit<IngestionMinute, "at">): number =>
  Object.values(dropped).reduce((sum, count) => sum + count, 0) + refused_storage + refused_queue

const RECENT_MINUTES = 5

/** Of the last whole minutes: the running one would pull it down. */
export function acceptedPerSecond({ data }: Ingestion): string {
  const recent = data.slice(-RECENT_MINUTES - 1, -1)
  const accepted = recent.reduce((sum, minute) => sum + minute.accepted, 0)
  const rate = accepted / Math.max(1, recent.length * 60)
  return rate === 0 ? "0" : rate < 10 ? rate.toFixed(rate < 0.1 ? 2 : 1) : exact(Math.round(rate))
}

const HEIGHT = 100

/** Minutes side by side: what was accepted, and above it what was not. */
export function IngestChart({ minutes }: { minutes: readonly IngestionMinute[] }) {
  const bars = minutes.map((minute) => ({ at: minute.at, accepted: minute.accepted, rejected: rejectedOf(minute) }))
  const most = Math.max(1, ...bars.map(({ accepted, rejected }) => accepted + rejected))
  const [accepted, rejected] = [sumOf(bars, "accepted"), sumOf(bars, "rejected")]
  return (
    <figure class="ingest-chart">
      <svg
        viewBox={`0 0 ${bars.length * 10} ${HEIGHT}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`Events by minute: ${exact(accepted)} accepted, ${exact(rejected)} rejected, at most ${exact(most)} in a minute`}
      >
        {bars.map(({ at, accepted: kept, rejected: refused }, index) => {
          const [tall, over] = [(kept / most) * HEIGHT, (refused / most) * HEIGHT]
          return (
            <g key={at}>
              <title>{`${timeText(at)}: ${exact(kept)} accepted, ${exact(refused)} rejected`}</title>
              <rect class="kept" x={index * 10 + 1} width={8} y={HEIGHT - tall} height={tall} />
              <rect class="refused" x={index * 10 + 1} width={8} y={HEIGHT - tall - over} height={over} />
            </g>
          )
        })}
      </svg>
      <figcaption class="small quiet">
        <span class="key-kept" /> {exact(accepted)} accepted <span class="key-refused" /> {exact(rejected)} rejected; at most{" "}
        {exact(most === 1 && accepted + rejected === 0 ? 0 : most)} in a minute
      </figcaption>
    </figure>
  )
}

const sumOf = <Name extends string>(rows: readonly Record<Name, number>[], name: Name): number =>
  rows.reduce((sum, row) => sum + row[name], 0)
