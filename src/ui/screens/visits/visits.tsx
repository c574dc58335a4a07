import { Suspense } from "preact/compat"
import { Link, useParams } from "wouter"
import type { ListedVisitResponse } from "../../../domain/visit-list.ts"
import { useRows } from "../../api/plugin-requests.ts"
import { isFiltered, useSiteAddress } from "../../browser/address.ts"
import { usePageChoices } from "../../browser/hooks.ts"
import { Button, IconButton } from "../../parts/button.tsx"
import { type Column, PagedTable } from "../../parts/data-table.tsx"
import { Forbidden } from "../../parts/forbidden.tsx"
import { Checkbox, FilterRow, SelectField } from "../../parts/form/fields.tsx"
import { lazyPart } from "../../parts/loading.ts"
import { Card, Page } from "../../parts/page.tsx"
import EmptyCard from "../../report/cards/empty-card.tsx"
import { useStatsSource } from "../../report/data/reports.ts"
import { FilterBar, IgnoredAddressParts } from "../../report/filters/filter-bar.tsx"
import { clockText, duration, exact, timeText } from "../../text/format.ts"
import { TruncatedText } from "../../text/safe-text.tsx"
import { BOUNDS, hoursOf, visitArguments } from "./visit-query.ts"
import { deviceText, moneyText, placeText, sourceText, startText } from "./visit-texts.ts"

const VisitDialog = lazyPart(() => import("./visit-dialog.tsx"))

/** Number of rows up to which the list is refetched every minute, because only the first page is shown. */
const FIRST_PAGE = 50
const REFETCH_MS = 60_000

/** Lists single visits, newest first. Each opens as a timeline of its events. */
export default function VisitsScreen() {
  const { can } = useStatsSource()
  return can("people:read") ? <Visits /> : <Forbidden permission="see single visits" />
}

function Visits() {
  const { siteId, base, address, searchWith, go } = useSiteAddress()
  const { timezone, can } = useStatsSource()
  const { visit } = useParams<{ visit?: string }>()
  const choices = usePageChoices()
  const visits = useRows<ListedVisitResponse>(
    ["visits", siteId],
    `/api/private/sites/${siteId}/stats/visits`,
    visitArguments(address, choices.of),
    { refetchMs: (rows) => rows.length <= FIRST_PAGE && REFETCH_MS },
  )
  const isBounded = [...Object.keys(BOUNDS), "hours"].some((name) => choices.of(name) !== undefined)
  const hrefOf = ({ visit: id }: ListedVisitResponse) => `${base}/visits/${id}${searchWith({})}`
  return (
    <Page title="Visits">
      <FilterBar />
      <IgnoredAddressParts ownCards />
      <Card title="Recent visits" full>
        <div class="visit-bounds">
          <VisitBounds seesRevenue={can("revenue:read")} />
        </div>
        {visits.rows?.length === 0 && !isBounded ? (
          <EmptyCard />
        ) : (
          <div class="visits">
            <PagedTable
              of={visits}
              caption="Visits, newest first"
              columns={columns({ timezone, seesRevenue: can("revenue:read"), hrefOf })}
              keyOf={(row) => row.visit}
              empty={
                isFiltered(address)
                  ? "No visits match these conditions and filters in this period."
                  : "No visits match these conditions in this period."
              }
              step={<Button onClick={() => choices.choose(NO_BOUNDS)}>Show all visits</Button>}
              stacks
            />
          </div>
        )}
      </Card>
      {visit !== undefined && (
        <Suspense fallback={<div class="progress-line" />}>
          <VisitDialog key={visit} visit={visit} onClose={() => go({}, { path: `${base}/visits` })} />
        </Suspense>
      )}
    </Page>
  )
}

const NO_BOUNDS = Object.fromEntries([...Object.keys(BOUNDS), "hours"].map((name) => [name, undefined]))

/** Conditions on whole visits, which the filters of reports do not have. */
function VisitBounds({ seesRevenue }: { seesRevenue: boolean }) {
  const { of, choose } = usePageChoices()
  const select = (name: "duration" | "views", label: string) => (
    <SelectField label={label} value={of(name) ?? ""} options={BOUNDS[name]} onValue={(value) => choose({ [name]: value || undefined })} />
  )
  return (
    <FilterRow label="Conditions on visits">
      {select("duration", "Duration")}
      {select("views", "Views")}
      {seesRevenue && (
        <Checkbox
          label="With revenue only"
          checked={of("revenue") === "true"}
          onChange={(isOn) => choose({ revenue: isOn ? "true" : undefined })}
        />
      )}
      <HoursPill />
    </FilterRow>
  )
}

/** The hours that the chart of the overview has opened, until they are removed. */
function HoursPill() {
  const { of, choose } = usePageChoices()
  const hours = hoursOf(of)
  if (!hours) return null
  const clock = (hour: number) => clockText(Date.UTC(2026, 0, 1, hour), "UTC")
  const text = `Started ${clock(hours.from)}–${clock((hours.to + 1) % 24)}`
  return (
    <span class="pill">
      <span class="pill-text">{text}</span>
      <IconButton icon="close" label={`Remove ${text}`} onClick={() => choose({ hours: undefined })} />
    </span>
  )
}

interface ColumnOptions {
  timezone: string
  seesRevenue: boolean
  hrefOf(visit: ListedVisitResponse): string
}

function columns({ timezone, seesRevenue, hrefOf }: ColumnOptions): Column<ListedVisitResponse>[] {
  const all: Column<ListedVisitResponse>[] = [
    {
      id: "time",
      label: "Time",
      cell: (visit) => (
        <Link href={hrefOf(visit)}>
          <time dateTime={visit.started_at} title={timeText(visit.started_at, timezone)}>
            {startText(visit.started_at, timezone)}
          </time>
        </Link>
      ),
    },
    { id: "source", label: "Source", cell: (visit) => <TruncatedText text={sourceText(visit)} /> },
    { id: "place", label: "Place", cell: (visit) => <TruncatedText text={placeText(visit)} /> },
    { id: "device", label: "Device", cell: (visit) => <TruncatedText text={deviceText(visit)} /> },
    { id: "pages", label: "Pages", cell: (visit) => <Pages of={visit} /> },
    { id: "views", label: "Views", number: true, cell: ({ pageviews }) => <Views of={pageviews} /> },
    { id: "duration", label: "Duration", number: true, cell: (visit) => duration(visit.duration) },
    { id: "goals", label: "Goals", cell: (visit) => visit.goals.length > 0 && <TruncatedText text={visit.goals.join(", ")} /> },
  ]
  const revenue: Column<ListedVisitResponse> = {
    id: "revenue",
    label: "Revenue",
    number: true,
    cell: (visit) => (visit.revenue ?? []).map(moneyText).join(", "),
  }
  return seesRevenue ? [...all, revenue] : all
}

/** Number of views, with the unit where there is no column head. */
const Views = ({ of: views }: { of: number }) => (
  <>
    {exact(views)}
    <span class="visit-unit">{views === 1 ? " view" : " views"}</span>
  </>
)

/** Entry and exit page. */
const Pages = ({ of: { entry_page: entry, exit_page: exit } }: { of: ListedVisitResponse }) => (
  <span class="visit-pages">
    {entry === null ? <span class="quiet">No page</span> : <TruncatedText text={entry} />}
    {exit !== null && exit !== entry && (
      <>
        <span aria-label="to">→</span>
        <TruncatedText text={exit} />
      </>
    )}
  </span>
)
