import { Link } from "wouter"
import { Answer, bytesText, duration, ErrorState, exact, Page, Skeleton, timeText } from "#plugin/ui"
import type { Backup, Ingestion, Job, Listed, Storage } from "./answers.ts"
import { useAdmin } from "./ask.ts"
import { type Figure, Figures } from "./figures.tsx"
import { type Check, HealthList } from "./health-list.tsx"
import { acceptedPerSecond, IngestChart, rejectedOf } from "./ingest-chart.tsx"
import { Notices } from "./notices.tsx"
import { Facts, Part } from "./parts.tsx"
import type { SlowQuestions } from "./questions.tsx"
import { UpdateNote } from "./update-note.tsx"

interface System {
  version: string
  commit: string | null
  bun: string
  started_at: string
  uptime_s: number
  data_dir: string
  base_url: string | null
  catalog: { kind: string; bytes: number | null; wal_bytes: number | null }
  events: { bytes: number; wal_bytes: number; segments: number; hot_rows: number }
  memory: { rss: number }
}

const SOON_MS = 15_000
const LATER_MS = 60_000

/** How the instance is: what it takes in, what it has left, what went wrong, and what to do about it. */
export default function Overview() {
  const health = useAdmin<{ status: string; checks: Check[] }>("system/health", { refetchMs: LATER_MS })
  const system = useAdmin<System>("system", { refetchMs: SOON_MS })
  const ingestion = useAdmin<Ingestion>("ingestion", { refetchMs: SOON_MS })
  return (
    <Page title="Overview">
      <Notices />
      <FigureStrip system={system.data} ingestion={ingestion.data} />
      <Part title="Events of the last hour">
        {ingestion.data ? (
          <>
            <IngestChart minutes={ingestion.data.data} />
            <p class="small quiet">
              Each bar is a minute. <Link href="/admin/ingestion">Minutes as a table, reasons and samples</Link>
            </p>
          </>
        ) : ingestion.error ? (
          <ErrorState error={ingestion.error} onRetry={() => void ingestion.refetch()} />
        ) : (
          <Skeleton rows={3} />
        )}
      </Part>
      <Part title="Health">
        <Answer of={health} rows={6}>
          {({ checks }) => <HealthList checks={checks} />}
        </Answer>
      </Part>
      <Part title="What runs">
        <Answer of={system} rows={6}>
          {(shown) => <Facts of={factsOf(shown)} />}
        </Answer>
        <UpdateNote />
      </Part>
    </Page>
  )
}

const factsOf = ({ version, commit, bun, started_at, data_dir, base_url, memory, events }: System) =>
  [
    ["Version", commit === null ? version : `${version} (${commit.slice(0, 12)})`],
    ["Runtime", `Bun ${bun}`],
    ["Running since", timeText(started_at)],
    ["Address", base_url ?? "not set"],
    ["Data folder", <code key="folder">{data_dir}</code>],
    ["Memory", bytesText(memory.rss)],
    ["Columnar segments", exact(events.segments)],
    ["Events not in a segment yet", exact(events.hot_rows)],
  ] as const

/** The numbers that are looked at first. */
function FigureStrip({ system, ingestion }: { system: System | undefined; ingestion: Ingestion | undefined }) {
  const storage = useAdmin<Storage>("storage", { refetchMs: LATER_MS })
  const backups = useAdmin<{ data: Backup[] }>("backups", { refetchMs: LATER_MS })
  const failed = useAdmin<Listed<Job>>("jobs?state=failed&limit=1&count=true", { refetchMs: LATER_MS })
  const questions = useAdmin<SlowQuestions>("system/slow-questions", { refetchMs: LATER_MS })
  const verified = backups.data?.data
    .flatMap(({ verified_at }) => verified_at ?? [])
    .sort()
    .at(-1)
  const { disk } = storage.data ?? {}
  const figures: Figure[] = [
    { label: "Uptime", value: system && longText(system.uptime_s) },
    { label: "Accepted per second", value: ingestion && acceptedPerSecond(ingestion), note: "last 5 minutes" },
    { label: "Rejected, last hour", value: ingestion && exact(rejectedOf(ingestion.totals)), href: "/admin/ingestion" },
    {
      label: "Waiting events",
      value: ingestion && exact(ingestion.queue_depth),
      note: ingestion?.commit ? commitText(ingestion.commit) : "",
    },
    {
      label: "Event store",
      value: system && bytesText(system.events.bytes),
      note: system && `log ${bytesText(system.events.wal_bytes)}`,
      href: "/admin/storage",
    },
    {
      label: "Catalog",
      value: system && (system.catalog.bytes === null ? "remote" : bytesText(system.catalog.bytes)),
      note: system && (system.catalog.wal_bytes === null ? "" : `log ${bytesText(system.catalog.wal_bytes)}`),
      href: "/admin/storage",
    },
    {
      label: "Disk left",
      value: disk && bytesText(disk.free_bytes),
      note: disk && forecastText(disk.days_to_full),
      href: "/admin/storage",
    },
    {
      label: "Last verified backup",
      value: backups.data && (verified ? <AgeOf at={verified} /> : "none"),
      note: verified && "ago",
      href: "/admin/backups",
    },
    {
      label: "Slow questions",
      value: questions.data && exact(questions.data.last_hour),
      note: "last hour, a second or more",
      href: "/admin/questions",
    },
    { label: "Failed jobs", value: failed.data && exact(failed.data.total), href: "/admin/jobs?state=failed" },
  ]
  return <Figures label="Figures of the instance" figures={figures} />
}

const AgeOf = ({ at }: { at: string }) => (
  <time dateTime={at} title={timeText(at)}>
    {longText((Date.now() - Date.parse(at)) / 1_000)}
  </time>
)

const commitText = ({ p50_ms, p99_ms }: { p50_ms: number; p99_ms: number }): string =>
  `commit ${exact(Math.round(p50_ms))} ms, p99 ${exact(Math.round(p99_ms))} ms`

/** From two days on in days. */
const longText = (seconds: number): string => (seconds < 172_800 ? duration(Math.max(0, seconds)) : `${Math.floor(seconds / 86_400)} days`)

export const forecastText = (days: number | null): string =>
  days === null ? "no forecast yet" : `full in ${days > 3_650 ? "over ten years" : `${exact(days)} days`}`
