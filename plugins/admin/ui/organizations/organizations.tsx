import { useState } from "preact/hooks"
import { Link, useLocation } from "wouter"
import {
  Button,
  bytesText,
  type Column,
  Dialog,
  exact,
  FilterRow,
  Form,
  Page,
  PagedTable,
  post,
  SearchField,
  TextField,
  TimeAgo,
  useFilters,
  visible,
} from "#plugin/ui"
import type { OrganizationResponse } from "../../account-responses.ts"
import { ADMIN, useRefresh, useRows } from "../queries.ts"

/** Page of all organizations with their members, sites, events and size. */
export default function Organizations() {
  const [filters, setFilters] = useFilters(["q"])
  const [isCreating, setCreating] = useState(false)
  return (
    <Page
      title="Organizations"
      actions={
        <Button kind="primary" icon="plus" onClick={() => setCreating(true)}>
          New organization
        </Button>
      }
    >
      <FilterRow label="Organizations">
        <SearchField label="Name" value={filters.q ?? ""} onValue={(q) => setFilters({ q })} />
      </FilterRow>
      <PagedTable
        stacks
        of={useRows<OrganizationResponse>("organizations", filters)}
        caption="Organizations"
        columns={COLUMNS}
        keyOf={({ id }) => id}
        empty="No organizations match this search."
      />
      {isCreating && <NewOrganization onClose={() => setCreating(false)} />}
    </Page>
  )
}

const COLUMNS: Column<OrganizationResponse>[] = [
  { id: "name", label: "Name", cell: ({ id, name }) => <Link href={`/admin/organizations/${id}`}>{visible(name)}</Link> },
  { id: "members", label: "Members", number: true, cell: ({ members }) => exact(members) },
  { id: "sites", label: "Sites", number: true, cell: ({ sites }) => exact(sites) },
  { id: "keys", label: "API keys", number: true, cell: ({ keys }) => exact(keys) },
  { id: "events", label: "Events, 30 days", number: true, cell: ({ events_30d }) => exact(events_30d) },
  { id: "bytes", label: "Size", number: true, cell: ({ bytes }) => bytesText(bytes) },
  { id: "created", label: "Created", cell: ({ created_at }) => <TimeAgo at={created_at} /> },
]

function NewOrganization({ onClose }: { onClose(): void }) {
  const [name, setName] = useState("")
  const refresh = useRefresh()
  const [, navigate] = useLocation()
  return (
    <Dialog title="New organization" onClose={onClose} small>
      <Form
        submit={async () => {
          const { id } = await post<OrganizationResponse>(`${ADMIN}/organizations`, { name: name.trim() })
          await refresh("organizations")
          navigate(`/admin/organizations/${id}`)
        }}
      >
        {({ busy, errorOf }) => (
          <>
            <TextField label="Name" value={name} onValue={setName} error={errorOf("/name")} autofocus />
            <p class="small quiet">You'll add its owner on the next page.</p>
            <div class="dialog-foot">
              <Button onClick={onClose}>Cancel</Button>
              <Button kind="primary" type="submit" busy={busy}>
                Create organization
              </Button>
            </div>
          </>
        )}
      </Form>
    </Dialog>
  )
}
