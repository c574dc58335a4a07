import { useState } from "preact/hooks"
import { Link } from "wouter"
import {
  Button,
  bytesText,
  CopyButton,
  DescriptionList,
  duration,
  EmptyState,
  ErrorState,
  errorText,
  exact,
  Page,
  type PrivatePage,
  post,
  QueryResult,
  Skeleton,
  timeText,
  toast,
  visible,
} from "#plugin/ui"
import type {
  BackupResponse,
  CheckResponse,
  IngestionResponse,
  JobResponse,
  NoticeResponse,
  SlowQueriesResponse,
  StorageResponse,
  SystemResponse,
  UpdateResponse,
} from "../../operation-responses.ts"
import { Instruction, Part } from "../parts.tsx"
import { ADMIN, useAdmin, useRefresh } from "../queries.ts"
import { acceptedPerSecond, type Figure, Figures, hasNone, IngestChart, rejectedOf } from "./figures.tsx"
import { HealthList } from "./health.tsx"

const SOON_MS = 15_000
const LATER_MS = 60_000

/** Overview page: notices, key figures, events of the last hour, health checks and the running version. */
export default function Overview() {
  const health = useAdmin<{ status: string; checks: CheckResponse[] }>("system/health", { refetchMs: LATER_MS })
  const system = useAdmin<SystemResponse>("system", { refetchMs: SOON_MS })
  const ingestion = useAdmin<IngestionResponse>("ingestion", { refetchMs: SOON_MS })
  return (
    <Page title="Overview">
      <Notices />
      <FigureStrip system={system.data} ingestion={ingestion.data} />
      <Part title="Events of the last hour">
        {ingestion.data?.data.every(hasNone) ? (
          <EmptyState>No events arrived in the last hour.</EmptyState>
        ) : ingestion.data ? (
          <>
            <IngestChart minutes={ingestion.data.data} />
            <p class="small quiet">
              Each bar is a minute. <Link href="/admin/ingestion">View table, reasons and samples</Link>
            </p>
          </>
        ) : ingestion.error ? (
          <ErrorState error={ingestion.error} onRetry={() => void ingestion.refetch()} />
        ) : (
          <Skeleton rows={3} />
        )}
      </Part>
      {/* Each part is drawn once those above it have their height. */}
      {!ingestion.isLoading && (
        <Part title="Health">
          <QueryResult of={health} rows={6}>
            {({ checks }) => <HealthList checks={checks} />}
          </QueryResult>
        </Part>
      )}
      {!ingestion.isLoading && !health.isLoading && (
        <Part title="About this instance">
          <QueryResult of={system} rows={6}>
            {(shown) => <DescriptionList of={factsOf(shown)} />}
          </QueryResult>
          <UpdateNote />
        </Part>
      )}
    </Page>
  )
}

const factsOf = ({ version, commit, bun, started_at, data_dir, base_url, memory, events }: SystemResponse) =>
  [
    ["Version", commit === null ? version : `${version} (${commit.slice(0, 12)})`],
    ["Runtime", `Bun ${bun}`],
    ["Running since", timeText(started_at)],
    ["Base URL", base_url ?? "not set"],
    ["Data folder", <code key="folder">{data_dir}</code>],
    ["Memory", bytesText(memory.rss)],
    ["Columnar segments", exact(events.segments)],
    ["Unsealed events", exact(events.hot_rows)],
  ] as const

/** Key figures of the instance. */
function FigureStrip({ system, ingestion }: { system: SystemResponse | undefined; ingestion: IngestionResponse | undefined }) {
  const storage = useAdmin<StorageResponse>("storage", { refetchMs: LATER_MS })
  const backups = useAdmin<{ data: BackupResponse[] }>("backups", { refetchMs: LATER_MS })
  const failed = useAdmin<PrivatePage<JobResponse>>("jobs?state=failed&limit=1&count=true", { refetchMs: LATER_MS })
  const slowQueries = useAdmin<SlowQueriesResponse>("system/slow-questions", { refetchMs: LATER_MS })
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
      label: "Free disk space",
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
      label: "Slow queries",
      value: slowQueries.data && exact(slowQueries.data.last_hour),
      note: "last hour, 1 s or more",
      href: "/admin/questions",
    },
    { label: "Failed jobs", value: failed.data && exact(failed.data.total), href: "/admin/jobs?state=failed" },
  ]
  return <Figures label="Instance figures" figures={figures} />
}

const AgeOf = ({ at }: { at: string }) => (
  <time dateTime={at} title={timeText(at)}>
    {longText((Date.now() - Date.parse(at)) / 1_000)}
  </time>
)

const commitText = ({ p50_ms, p99_ms }: { p50_ms: number; p99_ms: number }): string =>
  `commit ${exact(Math.round(p50_ms))} ms, p99 ${exact(Math.round(p99_ms))} ms`

/** Formats a duration; two days and more are given in days. */
const longText = (seconds: number): string => (seconds < 172_800 ? duration(Math.max(0, seconds)) : `${Math.floor(seconds / 86_400)} days`)

export const forecastText = (days: number | null): string =>
  days === null ? "no forecast yet" : `full in ${days > 3_650 ? "over ten years" : `${exact(days)} days`}`

/** Notices about problems, shown until the problem is resolved or an admin dismisses the notice. */
export function Notices() {
  const { data } = useAdmin<{ data: NoticeResponse[] }>("notices")
  const refresh = useRefresh()
  if (!data || data.data.length === 0) return null
  const dismiss = async ({ id }: NoticeResponse) => {
    try {
      await post(`${ADMIN}/notices/${id}/dismiss`, undefined)
      await refresh("notices")
    } catch (error) {
      toast(errorText(error as Error))
    }
  }
  return (
    <section class="stack" aria-label="Notices">
      {data.data.map((notice) => (
        <div class="notice" key={notice.id}>
          <div>
            <h2>{notice.title}</h2>
            <p>
              <Instruction text={notice.remedy} />
            </p>
            <p class="small quiet">
              {Object.entries(notice.detail).map(([name, value]) => `${name}: ${visible(String(value))}. `)}
              {notice.first_at === notice.last_at
                ? timeText(notice.first_at)
                : `First ${timeText(notice.first_at)}, last ${timeText(notice.last_at)}`}
            </p>
          </div>
          <Button aria-label={`Dismiss: ${notice.title}`} onClick={() => void dismiss(notice)}>
            Dismiss
          </Button>
        </div>
      ))}
    </section>
  )
}

/** Shows whether a newer version exists, with a button to check for one. */
export function UpdateNote() {
  const { data } = useAdmin<UpdateResponse>("updates")
  const refresh = useRefresh()
  const [busy, setBusy] = useState(false)
  if (!data) return null
  if (!data.is_possible)
    return (
      <p class="quiet">
        Update checks are off (<code>FOOTFALL_UPDATES_URL</code> is not set).
      </p>
    )
  const check = async () => {
    setBusy(true)
    try {
      await post(`${ADMIN}/updates/check`, undefined)
      await refresh("updates", "notices")
    } catch (error) {
      toast(errorText(error as Error))
    } finally {
      setBusy(false)
    }
  }
  return (
    <div class="stack">
      {data.is_newer && data.latest ? (
        <div class="stack">
          <h3>Version {visible(data.latest.version)} is available</h3>
          <p>
            {data.latest.changes_schema ? "It changes the schema of the stores. Create a backup first." : "It does not change the schema."}
          </p>
          <pre>{visible(data.latest.notes)}</pre>
          <div class="row">
            <CopyButton text={data.latest.notes} label="Copy notes" />
          </div>
        </div>
      ) : (
        <p class="quiet">
          {data.failure !== null
            ? `The last update check failed: ${visible(data.failure)}`
            : data.checked_at === null
              ? "No update check yet."
              : `Up to date as of ${timeText(data.checked_at)}.`}
        </p>
      )}
      <div class="row">
        <Button busy={busy} onClick={() => void check()}>
          Check for updates
        </Button>
        <span class="small quiet">Only the version is sent.</span>
      </div>
    </div>
  )
}
