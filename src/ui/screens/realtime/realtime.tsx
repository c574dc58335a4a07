import { useState } from "preact/hooks"
import type { RealtimePanel } from "../../../domain/insight.ts"
import { isFilteredBy, toggledFilter, useSiteAddress } from "../../browser/address.ts"
import { Button } from "../../parts/button.tsx"
import { Card, Page } from "../../parts/page.tsx"
import { Answer, EmptyState } from "../../parts/states.tsx"
import { agoText } from "../../parts/values.tsx"
import { useStatsSource } from "../../report/data/reports.ts"
import { valueText } from "../../report/data/value-text.ts"
import { RankedList, type RankedRow } from "../../report/rows/ranked-list.tsx"
import { counted, exact } from "../../text/format.ts"
import { EventFeed, narrowed, narrowsFeed } from "./event-feed.tsx"
import { FeedFilters } from "./feed-filters.tsx"
import { LostLine } from "./lost-line.tsx"
import { MinuteBars } from "./minute-bars.tsx"
import { useAnnouncement } from "./use-announcement.ts"
import { useLastEvent, useRealtime } from "./use-realtime.ts"

/** Renders the realtime page of a site. */
export default function RealtimeScreen() {
  const { siteId, address } = useSiteAddress()
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
      {retryAt !== undefined && !paused && <LostLine retryAt={retryAt} onRetry={retryNow} />}
      <FeedFilters />
      <div class="bands">
        <Card title="Current visitors" full marks={<span class="small quiet">last 5 minutes</span>}>
          <Answer of={report} rows={6}>
            {(panel) => (
              <div class="now">
                <Now panel={panel} siteId={siteId} />
                <div class="now-minutes">
                  <MinuteBars minutes={panel.minutes} timezone={timezone} />
                </div>
              </div>
            )}
          </Answer>
        </Card>
        <div class="thirds" data-full>
          <TopCard title="Pages" head="Page" dimension="page" report={report} of="pages" />
          <TopCard title="Sources" head="Source" dimension="source" report={report} of="sources" />
          <TopCard title="Countries" head="Country" dimension="country" report={report} of="countries" />
        </div>
        <Card title="Latest events" full marks={<span class="small quiet">{timezone}</span>}>
          <Answer of={report} rows={9}>
            {({ events }) => <EventFeed events={narrowed(events, filters)} timezone={timezone} isFiltered={filters.length > 0} />}
          </Answer>
        </Card>
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
      <Answer of={report} rows={6}>
        {(panel) => {
          const rows = panel[of].map((row) => ({ ...row, label: valueText(dimension, row.value, row.label) }) as RankedRow)
          return rows.length === 0 ? (
            <EmptyState>No one online</EmptyState>
          ) : (
            <RankedList
              title={head}
              rows={rows}
              metrics={["visitors"]}
              isChosen={(value) => isFilteredBy(address.filters, dimension, value)}
              addressOf={(value) => `${base}/realtime${searchWith({ filters: toggledFilter(address.filters, { dimension }, value) })}`}
            />
          )
        }}
      </Answer>
    </Card>
  )
}
