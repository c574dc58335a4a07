import { Link } from "wouter"
import { type Column, FilterRow, Page, PagedTable, SearchField, SelectField, TimeAgo, useFilters, visible } from "#plugin/ui"
import type { JobResponse } from "../../operation-responses.ts"
import { SiteField, siteText, useSiteNames } from "../fields.tsx"
import { withAny } from "../parts.tsx"
import { useRows } from "../queries.ts"
import { isOpen, JobActions, JobProgress } from "./job-state.tsx"

const STATES = ["queued", "running", "done", "failed", "cancelled"] as const
const [SOON_MS, LATER_MS] = [2_000, 15_000]

/** Page of all background jobs, of the core and of plugins. */
export default function Jobs() {
  const [filters, setFilters] = useFilters(["state", "kind", "site"])
  const jobs = useRows<JobResponse>("jobs", filters, { refetchMs: (rows) => (rows.some(isOpen) ? SOON_MS : LATER_MS) })
  return (
    <Page title="Jobs">
      <FilterRow label="Jobs">
        <SelectField label="State" value={filters.state ?? ""} options={withAny(STATES)} onValue={(state) => setFilters({ state })} />
        <SearchField label="Job name" value={filters.kind ?? ""} onValue={(kind) => setFilters({ kind })} />
        <SiteField value={filters.site ?? ""} onValue={(site) => setFilters({ site })} />
      </FilterRow>
      <PagedTable
        stacks
        of={jobs}
        caption="Jobs"
        columns={columnsOf(useSiteNames())}
        keyOf={({ id }) => id}
        empty="No jobs match these filters."
      />
    </Page>
  )
}

const columnsOf = (names: ReadonlyMap<number, string>): Column<JobResponse>[] => [
  {
    id: "kind",
    label: "Job",
    cell: ({ id, kind }) => (
      <Link class="whole" href={`/admin/jobs/${id}`}>
        {kind}
      </Link>
    ),
  },
  { id: "state", label: "State", cell: (job) => <JobProgress job={job} /> },
  { id: "site", label: "Site", cell: ({ site_id }) => site_id !== null && <span class="whole">{siteText(names, site_id)}</span> },
  { id: "started", label: "Started", cell: ({ started_at }) => <TimeAgo at={started_at} none="not yet" /> },
  { id: "finished", label: "Finished", cell: ({ finished_at }) => <TimeAgo at={finished_at} none="" /> },
  {
    id: "error",
    label: "Error",
    cell: ({ error_message }) => error_message !== null && <div class="wide">{visible(error_message)}</div>,
  },
  { id: "acts", label: "Actions", cell: (job) => <JobActions job={job} /> },
]
