import { Link } from "wouter"
import {
  Button,
  Card,
  canOnSite,
  dayText,
  EmptyState,
  ErrorState,
  FilterRow,
  IgnoredAddressParts,
  isFiltered,
  NO_FILTERS,
  Page,
  Problem,
  QueryResult,
  SelectField,
  Skeleton,
  useMe,
  useSiteAddress,
  visible,
} from "#plugin/ui"
import type { SearchReport } from "../../search/responses.ts"
import { integrationsAddress, useRights } from "../answers.ts"
import { SearchChart } from "./chart.tsx"
import {
  type Choices,
  csvAddress,
  ENGINE_LABELS,
  FILTERS,
  filtersOf,
  GROUPS,
  groupOf,
  keyText,
  TYPE_LABELS,
  useChoices,
  useDays,
  useReport,
} from "./report.ts"
import { ReportTable } from "./report-table.tsx"

const options = (labels: Readonly<Record<string, string>>, first: string) =>
  Object.entries(labels).map(([value, label]) => ({ value: value === first ? "" : value, label }))
const TYPES = options(TYPE_LABELS, "web")
const ENGINES = options(ENGINE_LABELS, "google")

/** Page with what people searched for before they came. */
export default function SearchQueries() {
  const { siteId, address } = useSiteAddress()
  const [choices, choose] = useChoices()
  const me = useMe()
  const report = useReport(siteId, address, choices)
  const first = report.data?.pages[0]
  const days = useDays(siteId, address, choices, first !== undefined)
  const error = first ? null : report.error
  return (
    <Page
      title="Search queries"
      actions={
        first &&
        canOnSite(me, siteId, "export:read") && (
          <a class="button" href={csvAddress(siteId, address, choices)} download>
            CSV
          </a>
        )
      }
    >
      <IgnoredAddressParts ownCards />
      {(first || (error && !isNotConnected(error))) && <Controls choices={choices} onChoose={choose} />}
      {error ? (
        <Failure siteId={siteId} error={error} onRetry={() => void report.refetch()} />
      ) : !first ? (
        <Skeleton rows={12} />
      ) : (
        <div class="stack card-body" aria-busy={report.isPlaceholderData}>
          <Notes siteId={siteId} of={first} />
          <QueryResult of={days} rows={9}>
            {(rows) => <SearchChart report={first} days={rows} />}
          </QueryResult>
          <Card
            title="Searches"
            tabs={GROUPS}
            chosen={groupOf(choices)}
            onChoose={(group) => choose({ group, sort: "" })}
            foot={
              <span>
                Days are in the search engine's time zone, Pacific Time ({first.timezone}), not in that of the site.
                {first.data_until && ` Data until ${dayText(first.data_until)}.`}
              </span>
            }
            full
          >
            <ReportTable
              siteId={siteId}
              report={first}
              rows={report.data!.pages.flatMap(({ rows }) => rows)} // there is a first page
              choices={choices}
              onChoose={choose}
              {...(report.hasNextPage && { onMore: () => void report.fetchNextPage() })}
              isLoadingMore={report.isFetchingNextPage}
            />
          </Card>
        </div>
      )}
    </Page>
  )
}

/** Chosen filters, and the engine and type of search. */
function Controls({ choices, onChoose }: { choices: Choices; onChoose(changes: Choices): void }) {
  const filters = filtersOf(choices)
  return (
    <div class="stack">
      <FilterRow label="Searches">
        <SelectField
          label="Engine"
          value={choices.engine ?? ""}
          options={ENGINES}
          onValue={(engine) => onChoose({ engine, type: "", sort: "" })}
        />
        {choices.engine !== "bing" && (
          <SelectField label="Type" value={choices.type ?? ""} options={TYPES} onValue={(type) => onChoose({ type, sort: "" })} />
        )}
      </FilterRow>
      {filters.length > 0 && (
        <div class="row">
          {filters.map((name) => (
            <span class="pill" key={name}>
              <button type="button" aria-label={`Remove the filter ${FILTER_LABELS[name]}`} onClick={() => onChoose({ [name]: "" })}>
                {FILTER_LABELS[name]} is {visible(keyText(name, choices[name]!))} ×{/* it is set */}
              </button>
            </span>
          ))}
          {filters.length > 1 && (
            <Button kind="quiet" onClick={() => onChoose(Object.fromEntries(FILTERS.map((name) => [name, ""])))}>
              Clear filters
            </Button>
          )}
        </div>
      )}
    </div>
  )
}

const FILTER_LABELS = { query: "Query", page: "Page", country: "Country", device: "Device" } as const

interface FailureProps {
  siteId: number
  error: Error
  onRetry(): void
}

/** Why there is no report: nothing is connected, the filters don't fit together, or the request failed. */
function Failure({ siteId, error, onRetry }: FailureProps) {
  const { reads, writes } = useRights(siteId)
  const [, choose] = useChoices()
  if (isNotConnected(error))
    return (
      <EmptyState
        action={
          reads && (
            <Link class="button" href={integrationsAddress(siteId)}>
              {writes ? "Connect a search engine" : "Open integrations"}
            </Link>
          )
        }
      >
        No search engine is connected. Connect Google Search Console or Bing to see the queries for which your pages were found.
      </EmptyState>
    )
  if (error instanceof Problem && error.code === "invalid_query")
    return (
      <EmptyState action={<Button onClick={() => choose(Object.fromEntries(FILTERS.map((name) => [name, ""])))}>Clear filters</Button>}>
        {error.members.errors?.[0]?.detail ?? error.message}
      </EmptyState>
    )
  return <ErrorState error={error} onRetry={onRetry} />
}

const isNotConnected = (error: Error): boolean => error instanceof Problem && error.code === "not_connected"

/** What limits the figures: the state of the connection, and days of which only the largest rows are known. */
function Notes({ siteId, of: { status, cut_days } }: { siteId: number; of: SearchReport }) {
  const { reads } = useRights(siteId)
  const { address, go } = useSiteAddress()
  const link = reads && <Link href={integrationsAddress(siteId)}>Open integrations</Link>
  return (
    <>
      {isFiltered(address) && (
        <div class="notice">
          <p>The filters of the dashboard don't apply to searches.</p>
          <Button onClick={() => go(NO_FILTERS)}>Clear filters</Button>
        </div>
      )}
      {STATUS_NOTES[status] && (
        <p class="notice" data-kind="warn">
          {STATUS_NOTES[status]} {link}
        </p>
      )}
      {cut_days > 0 && (
        <p class="notice">
          For {cut_days === 1 ? "1 day" : `${cut_days} days`} of this period, the search engine returned only its top rows.
        </p>
      )}
    </>
  )
}

const STATUS_NOTES: Readonly<Partial<Record<SearchReport["status"], string>>> = {
  needs_reauth: "The search engine no longer grants access. No new data is fetched until it is reconnected.",
  error: "The search engine denies access. No new data is fetched until this is fixed.",
  degraded: "The most recent days could not be fetched. Footfall will try again.",
  disconnected: "The search engine was disconnected. The data shown was fetched before that.",
}
