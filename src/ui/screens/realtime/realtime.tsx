import { type UseQueryResult, useQuery } from "@tanstack/react-query"
import { useEffect, useRef, useState } from "preact/hooks"
import type { RealtimePanel } from "../../../domain/insight.ts"
import type { ListedSiteResponse } from "../../../domain/site-response.ts"
import { getAll } from "../../api/api.ts"
import { isFilteredBy, toggledFilter, useSiteAddress } from "../../browser/address.ts"
import { Button, ButtonLink } from "../../parts/button.tsx"
import { Card, Page } from "../../parts/page.tsx"
import { EmptyState, QueryResult } from "../../parts/states.tsx"
import { agoText } from "../../parts/values.tsx"
import { RankedList, type RankedRow } from "../../report/cards/ranked-list.tsx"
import { valueText } from "../../report/data/figures.ts"
import { type LiveConnection, useLiveEvents } from "../../report/data/live-events.ts"
import { useReport, useStatsSource } from "../../report/data/reports.ts"
import { counted, exact } from "../../text/format.ts"
import { EventFeed, FeedFilters, narrowed, narrowsFeed } from "./event-feed.tsx"
import { MinuteBars } from "./minute-bars.tsx"

/** Renders the realtime page of a site. */
export default function RealtimeScreen() {
  const { siteId, base, address, searchWith } = useSiteAddress()
  const { timezone } = useStatsSource()
  const [paused, setPaused] = useState(false)
  const { report, retryAt, retryNow } = useRealtime(siteId, paused)
  const visitors = report.data?.visitors
  const announcement = useAnnouncement(visitors === undefined || paused ? "" : `${counted(visitors, "visitor")} online`)
  const filters = address.filters.filter(narrowsFeed)
  return (
    <Page
      title="Realtime"
      actions={
        <Button icon={paused ? "right" : "pause"} aria-pressed={paused} onClick={() => setPaused(!paused)}>
          {paused ? "Resume" : "Pause"}
        </Button>
      }
    >
      <span class="visually-hidden" role="status">
        {announcement}
      </span>
      {retryAt !== undefined && !paused && <ConnectionLost retryAt={retryAt} onRetry={retryNow} />}
      <FeedFilters />
      <div class="bands">
        <Card title="Current visitors" full marks={<span class="small quiet">last 5 minutes</span>}>
          <QueryResult of={report} rows={6}>
            {(panel) => (
              <div class="now">
                <Now panel={panel} siteId={siteId} />
                <div class="now-minutes">
                  {panel.minutes.some(({ visitors }) => visitors > 0) ? (
                    <MinuteBars minutes={panel.minutes} timezone={timezone} />
                  ) : (
                    <EmptyState action={<ButtonLink href={`${base}${searchWith({ period: "24h" })}`}>Show the last 24 hours</ButtonLink>}>
                      No visitors in the last 30 minutes. New ones appear here as they arrive.
                    </EmptyState>
                  )}
                </div>
              </div>
            )}
          </QueryResult>
        </Card>
        {/* Without visitors the first card says all there is to say. The others stand below it once it has its height. */}
        {report.data && report.data.visitors > 0 && (
          <div class="thirds" data-full>
            <TopCard title="Pages" head="Page" dimension="page" report={report} of="pages" />
            <TopCard title="Sources" head="Source" dimension="source" report={report} of="sources" />
            <TopCard title="Countries" head="Country" dimension="country" report={report} of="countries" />
          </div>
        )}
        {report.data && (report.data.events.length > 0 || filters.length > 0) && (
          <Card title="Latest events" full marks={<span class="small quiet">{timezone}</span>}>
            <QueryResult of={report} rows={3}>
              {({ events }) => <EventFeed events={narrowed(events, filters)} timezone={timezone} isFiltered={filters.length > 0} />}
            </QueryResult>
          </Card>
        )}
      </div>
    </Page>
  )
}

/** Shows the number of current visitors, or when the last one was seen. */
function Now({ panel, siteId }: { panel: RealtimePanel; siteId: number }) {
  const recent = panel.events[0]?.at
  const isQuiet = panel.visitors === 0
  const lastEvent = useLastEvent(siteId, isQuiet && recent === undefined)
  const last = recent ?? lastEvent
  return (
    <div class="now-count">
      <p class="now-figure">{exact(panel.visitors)}</p>
      <p class="small quiet">
        {!isQuiet
          ? `${exact(panel.pageviews)} ${panel.pageviews === 1 ? "view" : "views"}`
          : last
            ? `Last visitor ${agoText(last, Date.parse(panel.at))}`
            : last === null
              ? "No visitors yet"
              : ""}
      </p>
    </div>
  )
}

type Dimension = "page" | "source" | "country"
interface TopCardProps {
  title: string
  /** Header of the value column. */
  head: string
  dimension: Dimension
  report: ReturnType<typeof useRealtime>["report"]
  of: "pages" | "sources" | "countries"
}

/** Shows the top values among current visitors. A click on a row filters the event list. */
function TopCard({ title, head, dimension, report, of }: TopCardProps) {
  const { base, address, searchWith } = useSiteAddress()
  return (
    <Card title={title}>
      <QueryResult of={report} rows={6}>
        {(panel) => {
          const rows = panel[of].map((row) => ({ ...row, label: valueText(dimension, row.value, row.label) }) as RankedRow)
          return rows.length === 0 ? (
            <EmptyState>No one online</EmptyState>
          ) : (
            <RankedList
              title={head}
              dimension={dimension}
              rows={rows}
              metrics={["visitors"]}
              isChosen={(value) => isFilteredBy(address.filters, dimension, value)}
              addressOf={(value) => `${base}/realtime${searchWith({ filters: toggledFilter(address.filters, { dimension }, value) })}`}
            />
          )
        }}
      </QueryResult>
    </Card>
  )
}

/** Says that the live connection is lost and counts down to the next attempt. The countdown is hidden from assistive technology. */
function ConnectionLost({ retryAt, onRetry }: { retryAt: number; onRetry(): void }) {
  const [now, setNow] = useState(Date.now())
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 500)
    return () => clearInterval(timer)
  }, [])
  return (
    <div class="notice" data-kind="warn">
      <span role="status">Live connection lost. Figures are updated every 15 seconds until it is restored.</span>
      <span class="quiet small" aria-hidden="true">
        Retrying in {Math.max(0, Math.ceil((retryAt - now) / 1_000))} s
      </span>
      <Button onClick={onRetry}>Retry now</Button>
    </div>
  )
}

/** Returns the text for a live region, changed at most once per interval, always to the latest value. */
function useAnnouncement(text: string, everyMs = 15_000): string {
  const [announced, setAnnounced] = useState("")
  const last = useRef(Number.NEGATIVE_INFINITY)
  useEffect(() => {
    if (text === announced) return
    const timer = setTimeout(
      () => {
        last.current = performance.now()
        setAnnounced(text)
      },
      Math.max(0, last.current + everyMs - performance.now()),
    )
    return () => clearTimeout(timer)
  }, [text, announced, everyMs])
  return announced
}

/** Minimum and maximum interval between requests, in milliseconds. Without events the minutes still advance. */
const MIN_INTERVAL_MS = 2_000
const MAX_INTERVAL_MS = 15_000
const ROWS = 10

interface RealtimeFeed extends LiveConnection {
  report: UseQueryResult<RealtimePanel, Error>
}

/** Fetches the realtime report again whenever an event arrives, unless paused. */
function useRealtime(siteId: number, paused: boolean): RealtimeFeed {
  const refetchMs = paused ? false : MAX_INTERVAL_MS
  const report = useReport("realtime", { limit: ROWS }, { enabled: !paused, refetchMs }) as UseQueryResult<RealtimePanel, Error> // the result of the realtime report
  const refetch = useThrottled(() => {
    // The call may be up to one interval old.
    if (!paused) void report.refetch()
  }, MIN_INTERVAL_MS)
  const line = useLiveEvents(siteId, { event: refetch, current_visitors: refetch }, !paused)
  return { ...line, report }
}

/** Returns a function that calls `act` at once and then at most once per interval. */
function useThrottled(act: () => void, everyMs: number): () => void {
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  const last = useRef(Number.NEGATIVE_INFINITY)
  const latest = useRef(act)
  latest.current = act
  useEffect(() => () => clearTimeout(timer.current), [])
  return () => {
    if (timer.current !== undefined) return
    timer.current = setTimeout(
      () => {
        timer.current = undefined
        last.current = performance.now()
        latest.current()
      },
      Math.max(0, last.current + everyMs - performance.now()),
    )
  }
}

/** Returns when the site's last event arrived, or null if there is none. */
function useLastEvent(siteId: number, enabled: boolean): string | null | undefined {
  const { data } = useQuery({
    queryKey: ["sites", "names"],
    queryFn: ({ signal }) => getAll<ListedSiteResponse>("/api/private/sites?", signal),
    staleTime: 60_000,
    enabled,
  })
  return data?.find(({ id }) => id === siteId)?.last_event_at
}
