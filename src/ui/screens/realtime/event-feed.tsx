import type { RealtimePanel } from "../../../domain/insight.ts"
import type { AddressFilter } from "../../../domain/site-address.ts"
import { useSiteAddress } from "../../browser/address.ts"
import { Button, IconButton } from "../../parts/button.tsx"
import { type Column, DataTable } from "../../parts/data-table.tsx"
import { Icon } from "../../parts/icon.tsx"
import { EmptyState } from "../../parts/states.tsx"
import { ValueIcon } from "../../parts/value-icon.tsx"
import { MISSING, UNKNOWN, valueText } from "../../report/data/figures.ts"
import { clearFilters } from "../../report/filters/filter-bar.tsx"
import { filterText, useFilterTexts } from "../../report/filters/filters.ts"
import { clockText } from "../../text/format.ts"
import { TruncatedText, visible, webAddress } from "../../text/safe-text.tsx"

type FeedEvent = RealtimePanel["events"][number]

const FIELDS: Readonly<Record<string, keyof FeedEvent>> = {
  page: "page",
  source: "source",
  country: "country",
  event: "name",
  hostname: "hostname",
  device: "device",
  browser: "browser",
}

/** Returns whether the feed can evaluate the filter. */
export const narrowsFeed = ({ dimension, operator }: AddressFilter): boolean => dimension in FIELDS && operator === "is"

/** Returns the events that match all filters the feed can evaluate. Missing values are empty in the feed. */
export const narrowed = (events: readonly FeedEvent[], filters: readonly AddressFilter[]): FeedEvent[] =>
  events.filter((event) =>
    filters.filter(narrowsFeed).every(({ dimension, values }) => values.includes(event[FIELDS[dimension]!] || MISSING)),
  )

/** Shows the latest events without anything that identifies visitors. It is not a live region, because it would announce constantly. */
export function EventFeed({ events, timezone, isFiltered }: { events: readonly FeedEvent[]; timezone: string; isFiltered: boolean }) {
  if (events.length === 0)
    return <EmptyState>{isFiltered ? "None of the latest events match the filters." : "No events in the last 30 minutes."}</EmptyState>
  return (
    <div class="feed">
      <DataTable stacks caption="Views and events, newest first" columns={columns(timezone)} rows={events} keyOf={keys(events)} />
    </div>
  )
}

/** Returns a function that gives each event a key. Identical events of the same moment are numbered. */
function keys(events: readonly FeedEvent[]): (event: FeedEvent) => string {
  const seen = new Map<string, number>()
  const byEvent = new Map<FeedEvent, string>()
  for (const event of events.toReversed()) {
    const text = `${event.at} ${event.name} ${event.page}`
    const before = seen.get(text) ?? 0
    seen.set(text, before + 1)
    byEvent.set(event, `${text} ${before}`)
  }
  return (event) => byEvent.get(event)!
}

const columns = (timezone: string): Column<FeedEvent>[] => [
  { id: "at", label: "Time", cell: ({ at }) => <time dateTime={at}>{clockText(at, timezone, true)}</time> },
  { id: "name", label: "Event", cell: ({ name }) => <TruncatedText text={name === "pageview" ? "View" : name} /> },
  { id: "page", label: "Page", cell: (event) => <PageCell event={event} /> },
  { id: "source", label: "Source", cell: ({ source }) => <Named dimension="source" value={source} /> },
  { id: "country", label: "Country", cell: ({ country }) => <Named dimension="country" value={country} /> },
  {
    id: "device",
    label: "Device",
    cell: ({ device, browser }) => visible([device && valueText("device", device), browser].filter(Boolean).join(", ") || UNKNOWN),
  },
]

const Named = ({ dimension, value }: { dimension: string; value: string }) => (
  <span class="named">
    <ValueIcon dimension={dimension} value={value} />
    <TruncatedText text={valueText(dimension, value)} />
  </span>
)

function PageCell({ event: { page, hostname } }: { event: FeedEvent }) {
  const address = page.startsWith("/") ? webAddress(`https://${hostname}${page}`) : undefined
  return (
    <span class="feed-page">
      <TruncatedText text={page} />
      {address && (
        <a
          class="open-page"
          href={address}
          target="_blank"
          rel="noreferrer noopener"
          aria-label={`Open ${visible(page)}`}
          title="Open page"
        >
          <Icon name="open" />
        </a>
      )}
    </span>
  )
}

/** Shows the filters of the event list. The counts are never filtered. */
export function FeedFilters() {
  const { address, go } = useSiteAddress()
  const { filters } = address
  const texts = useFilterTexts(filters)
  if (filters.length === 0) return null
  return (
    <div class="filter-bar" role="group" aria-label="Filters">
      {filters.map((filter, index) => (
        <span class="pill" key={filterText(filter)}>
          <span class="pill-text">{texts[index]}</span>
          <IconButton
            icon="close"
            label={`Remove ${texts[index]}`}
            onClick={() => go({ filters: filters.filter((one) => one !== filter) })}
          />
        </span>
      ))}
      <Button kind="quiet" onClick={() => clearFilters({ address, go })}>
        Clear filters
      </Button>
      <span class="small quiet">
        {filters.every(narrowsFeed)
          ? "The event list is filtered. The counts are for the whole site."
          : "Only filters by page, source, country and event apply to the event list. The counts are for the whole site."}
      </span>
    </div>
  )
}
