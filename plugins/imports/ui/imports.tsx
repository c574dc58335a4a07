import { Link } from "wouter"
import {
  Badges,
  type Column,
  countColumn,
  counted,
  dayText,
  FilterRow,
  Icon,
  Page,
  PagedTable,
  percent,
  SelectField,
  TimeAgo,
  useFilters,
  useRows,
  useSite,
  useSiteId,
  visible,
} from "#plugin/ui"
import type { ImportResponse } from "../responses.ts"
import { EnabledField, ImportMenu } from "./actions.tsx"
import { importsAddress, importsPath, isOfOtherZone, isOpen, PHASE_LABELS, STATE_LABELS, useRights, useSourceTitle } from "./answers.ts"

const SOON_MS = 2_000
const STATES = [{ value: "", label: "All" }, ...Object.entries(STATE_LABELS).map(([value, label]) => ({ value, label }))]

/** Page with the imports of a site, newest first. */
export default function Imports() {
  const siteId = useSiteId()
  const { writes } = useRights(siteId)
  const title = useSourceTitle()
  const siteZone = useSite(siteId).data?.timezone
  const [filters, setFilters] = useFilters(["state"])
  const imports = useRows<ImportResponse>(["imports", siteId, "list"], importsPath(siteId), filters, {
    refetchMs: (rows) => (rows.some(isOpen) ? SOON_MS : false),
  })
  const isFiltered = filters.state !== undefined
  const isEmpty = imports.rows?.length === 0 && !isFiltered
  return (
    <Page title="Imports" actions={writes && !isEmpty && <NewImportLink siteId={siteId} />}>
      {!isEmpty && (
        <FilterRow label="Imports">
          <SelectField label="State" value={filters.state ?? ""} options={STATES} onValue={(state) => setFilters({ state })} />
        </FilterRow>
      )}
      <PagedTable
        of={imports}
        caption="Imports"
        stacks
        columns={columnsOf(siteId, { writes, title, siteZone })}
        keyOf={({ id }) => id}
        empty={
          isFiltered
            ? "No imports in this state."
            : "No imports yet. Bring the history of another analytics product or of your server logs into this site. Every import can be undone."
        }
        step={writes && !isFiltered && <NewImportLink siteId={siteId} />}
      />
    </Page>
  )
}

const NewImportLink = ({ siteId }: { siteId: number }) => (
  <Link class="button" data-kind="primary" href={`${importsAddress(siteId)}/new`}>
    <Icon name="plus" />
    New import
  </Link>
)

interface Shown {
  writes: boolean
  title(source: string): string
  siteZone: string | undefined
}

const columnsOf = (siteId: number, { writes, title, siteZone }: Shown): Column<ImportResponse>[] => [
  {
    id: "label",
    label: "Import",
    cell: ({ id, label, source, stream, created_at }) => (
      <div class="goal-name">
        <Link href={`${importsAddress(siteId)}/${id}`}>{visible(label)}</Link>
        <span class="small quiet">
          {/* The name that an import gets begins with its source. */}
          {!label.startsWith(title(source)) && `${title(source)}, `}
          <TimeAgo at={created_at} />
          {stream !== null && <Badges of={["stream"]} />}
        </span>
      </div>
    ),
  },
  { id: "state", label: "State", cell: (one) => <StateCell of={one} /> },
  {
    id: "days",
    label: "Days",
    cell: (one) =>
      one.date_start && one.date_end ? (
        <span class="whole">
          {dayText(one.date_start, { weekday: undefined })}
          {one.date_end !== one.date_start && ` – ${dayText(one.date_end, { weekday: undefined })}`}
          {one.state === "completed" && (
            <span class="small quiet import-days">
              {isOfOtherZone(one, siteZone)
                ? `not in reports: days of ${one.timezone}`
                : `${counted(one.days_effective, "day")} in reports`}
            </span>
          )}
        </span>
      ) : (
        "–"
      ),
  },
  countColumn("imported", "Rows imported", ({ rows }: ImportResponse) => rows.imported),
  {
    id: "rejected",
    label: "Rejected",
    number: true,
    cell: ({ id, rows, label }) =>
      rows.rejected === 0 ? (
        "0"
      ) : (
        <a
          href={`${importsPath(siteId)}/${id}/rejects.csv`}
          download
          aria-label={`${rows.rejected} rejected lines of ${visible(label)}, CSV`}
        >
          {rows.rejected}
        </a>
      ),
  },
  {
    id: "enabled",
    label: "In reports",
    cell: (one) =>
      one.state !== "completed" ? (
        <span class="quiet">no</span>
      ) : writes ? (
        <EnabledField siteId={siteId} of={one} label={`Include ${visible(one.label)} in reports`} isHidden />
      ) : one.enabled ? (
        "yes"
      ) : (
        "hidden"
      ),
  },
  ...(writes
    ? [
        {
          id: "actions",
          label: "Actions",
          cell: (one: ImportResponse) => (
            <div class="goal-acts">
              <ImportMenu siteId={siteId} of={one} />
            </div>
          ),
        },
      ]
    : []),
]

/** State of an import; while it runs, how far it is. */
function StateCell({ of: { state, progress, error, label } }: { of: ImportResponse }) {
  if (!progress)
    return (
      <span class="whole" title={error?.message}>
        {state === "failed" ? <span class="down">{STATE_LABELS[state]}</span> : STATE_LABELS[state]}
      </span>
    )
  const { fraction, phase } = progress
  return (
    <span class="job-progress">
      <progress max={1} {...(fraction !== undefined && { value: fraction })} aria-label={`Progress of ${visible(label)}`} />
      <span class="small whole">
        {PHASE_LABELS[phase] ?? STATE_LABELS[state]}
        {fraction !== undefined && ` ${percent(100 * fraction)}`}
      </span>
    </span>
  )
}
