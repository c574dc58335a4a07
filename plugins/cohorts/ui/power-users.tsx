import { lazy, Suspense } from "preact/compat"
import { useState } from "preact/hooks"
import { Link } from "wouter"
import {
  Button,
  Card,
  type Column,
  counted,
  ErrorState,
  exact,
  FilterRow,
  Page,
  PagedTable,
  percent,
  QueryResult,
  SelectField,
  TimeAgo,
  useFilters,
  useRows,
  useSiteId,
  visible,
} from "#plugin/ui"
import type { HistogramResponse, LeaderResponse } from "../responses.ts"
import { isInsufficient, useRights, useSiteQuery } from "./answers.ts"
import { DayBars } from "./day-bars.tsx"
import { CohortField } from "./fields.tsx"
import { IdentityBanner, Insufficient } from "./identity.tsx"
import { peopleText } from "./labels.ts"

const ThresholdDialog = lazy(() => import("./threshold-dialog.tsx"))

const SORTS = [
  { value: "", label: "Most active days" },
  { value: "events", label: "Most events" },
  { value: "visits", label: "Most visits" },
  { value: "revenue", label: "Most revenue" },
  { value: "last_seen", label: "Seen last" },
]

/** Page with the most active people: on how many days people are active, and who they are. */
export default function PowerUsers() {
  const siteId = useSiteId()
  const [choices, choose] = useFilters(["window", "cohort", "sort", "restrict"])
  const { seesPeople } = useRights(siteId)
  const { window = "28", cohort = "", restrict = "" } = choices
  const given = { window, ...(cohort && { cohort_id: cohort }), ...(restrict && { restrict }) }
  const histogram = useSiteQuery<HistogramResponse>(siteId, `power-users/histogram?${new URLSearchParams(given)}`)
  const isShort = isInsufficient(histogram.error) && !histogram.data
  return (
    <Page title="Power users">
      <FilterRow label="Power users">
        <SelectField
          label="Window"
          value={window}
          options={[
            { value: "7", label: "7 days" },
            { value: "28", label: "28 days" },
          ]}
          onValue={(value) => choose({ window: value })}
        />
        {seesPeople && !isShort && (
          <SelectField label="Sort people by" value={choices.sort ?? ""} options={SORTS} onValue={(sort) => choose({ sort })} />
        )}
        <CohortField siteId={siteId} value={cohort} onValue={(value) => choose({ cohort: value })} />
      </FilterRow>
      {isShort && isInsufficient(histogram.error) ? (
        <Insufficient siteId={siteId} problem={histogram.error} onRestrict={() => choose({ restrict: "identified" })} />
      ) : histogram.error && !histogram.data ? (
        <ErrorState error={histogram.error} onRetry={() => void histogram.refetch()} />
      ) : (
        <div class="bands" data-fits>
          <Card title="Active days" full foot={histogram.data && <IdentityBanner siteId={siteId} of={histogram.data.identity} />}>
            <QueryResult of={histogram} rows={9}>
              {(data) => <Histogram siteId={siteId} of={data} />}
            </QueryResult>
          </Card>
          {histogram.data?.tenths && <Tenths of={histogram.data.tenths} />}
          {seesPeople && <Leaders siteId={siteId} given={{ ...given, sort: choices.sort ?? "" }} />}
        </div>
      )}
    </Page>
  )
}

/** Bars of people by active days, with a threshold that can be saved as a cohort. */
function Histogram({
  siteId,
  of: { buckets, at_least, people, median, mean, window, previous },
}: {
  siteId: number
  of: HistogramResponse
}) {
  const [threshold, setThreshold] = useState(Math.min(window, window === 7 ? 4 : 8))
  const [isSaving, setSaving] = useState(false)
  const { writes } = useRights(siteId)
  const chosen = at_least.find(({ days }) => days === threshold)
  if (people === 0) return <p class="quiet">No one was active in this window.</p>
  return (
    <div class="stack">
      <p>
        <strong>{people === null ? "Too few people to show" : peopleText(people)}</strong>{" "}
        <span class="quiet">
          {median !== null && `· median ${counted(median, "active day")}, mean ${exact(mean ?? undefined)}`}
          {previous.people !== null && ` · ${exact(previous.people)} people in the ${window} days before`}
        </span>
      </p>
      <DayBars of={buckets} from={threshold} note="They aren't included in the median, the mean or the number below." />
      <div class="row spread">
        <label class="threshold">
          <span>At least {counted(threshold, "active day")}</span>
          <input type="range" min={1} max={window} value={threshold} onInput={(event) => setThreshold(Number(event.currentTarget.value))} />
        </label>
        <span>{chosen && chosen.people !== null && `${peopleText(chosen.people)} (${percent(chosen.share ?? undefined)})`}</span>
        {writes && <Button onClick={() => setSaving(true)}>Save as cohort</Button>}
      </div>
      {isSaving && (
        <Suspense fallback={null}>
          <ThresholdDialog siteId={siteId} window={window} days={threshold} onClose={() => setSaving(false)} />
        </Suspense>
      )}
    </div>
  )
}

/** Share of all events of each tenth of the people. */
const Tenths = ({ of }: { of: readonly number[] }) => (
  <Card title="Share of events" full>
    <ol class="tenths">
      {of.map((share, index) => (
        // The tenths are known by their place.
        <li key={index}>
          <span>{index === 0 ? "Most active 10%" : `${index * 10}–${index * 10 + 10}%`}</span>
          <span class="tenth-track">
            <span class="tenth-bar" style={{ width: `${share}%` }} />
          </span>
          <span class="number">{percent(share)}</span>
        </li>
      ))}
    </ol>
  </Card>
)

function Leaders({ siteId, given }: { siteId: number; given: Record<string, string> }) {
  const leaders = useRows<LeaderResponse>(["cohorts", siteId, "leaders"], `/api/private/sites/${siteId}/power-users`, given)
  return (
    <Card title="People" full>
      <PagedTable
        stacks
        of={leaders}
        caption="Most active people"
        columns={columnsOf(siteId)}
        keyOf={({ person }) => person}
        empty="No one was active in this window."
      />
    </Card>
  )
}

const columnsOf = (siteId: number): Column<LeaderResponse>[] => [
  {
    id: "person",
    label: "Person",
    cell: ({ person, label }) => <Link href={`/sites/${siteId}/power-users/${person}`}>{visible(label)}</Link>,
  },
  { id: "days", label: "Active days", number: true, cell: ({ active_days }) => exact(active_days) },
  { id: "streak", label: "Streak", number: true, cell: ({ streak }) => exact(streak) },
  { id: "visits", label: "Visits", number: true, cell: ({ visits }) => exact(visits) },
  { id: "events", label: "Events", number: true, cell: ({ events }) => exact(events) },
  {
    id: "revenue",
    label: "Revenue",
    number: true,
    cell: ({ revenue }) => revenue?.map(({ amount, currency }) => `${amount} ${currency}`).join(", ") || "–",
  },
  { id: "last", label: "Last seen", cell: ({ last_seen }) => <TimeAgo at={last_seen} /> },
]
