import { useState } from "preact/hooks"
import {
  Button,
  type Column,
  Dialog,
  dayText,
  FilterRow,
  Form,
  Page,
  PagedTable,
  put,
  remove,
  SearchField,
  SelectField,
  toast,
  useFilters,
  visible,
} from "#plugin/ui"
import type { DisputeResponse } from "../../account-responses.ts"
import { ADMIN, useRefresh, useRows } from "../queries.ts"

type Claimant = DisputeResponse["organizations"][number]

/** Hosts that sites of several organizations claim. Instance admins can choose the owner. */
export default function HostDisputes() {
  const [filters, setFilters] = useFilters(["q"])
  const [deciding, setDeciding] = useState<DisputeResponse>()
  return (
    <Page title="Host disputes">
      <p class="quiet">
        Hosts claimed by sites of several organizations. A host belongs to the organization that proved it with a DNS record, otherwise to
        the one that listed it first and has events from it. Events from a host without an owner are dropped if they carry no tracking ID.
      </p>
      <FilterRow label="Host disputes">
        <SearchField label="Host or organization" value={filters.q ?? ""} onValue={(q) => setFilters({ q })} />
      </FilterRow>
      <PagedTable
        stacks
        of={useRows<DisputeResponse>("host-disputes", filters)}
        caption="Host disputes"
        columns={columnsOf(setDeciding)}
        keyOf={({ host }) => host}
        empty={filters.q ? "No disputes match this search." : "No host is claimed by more than one organization."}
      />
      {deciding && <Decision dispute={deciding} onClose={() => setDeciding(undefined)} />}
    </Page>
  )
}

const REASONS = { decided: "decided by an admin", proved: "proved by DNS", listed_first: "listed first" } as const

const columnsOf = (decide: (dispute: DisputeResponse) => void): Column<DisputeResponse>[] => [
  { id: "host", label: "Host", cell: ({ host }) => <div>{visible(host)}</div> },
  {
    id: "owner",
    label: "Owner",
    cell: ({ owner, organizations }) =>
      owner ? (
        <>
          {visible(organizations.find(({ id }) => id === owner.organization_id)?.name ?? "")}
          <br />
          <span class="small quiet">{REASONS[owner.reason]}</span>
        </>
      ) : (
        <span class="badge">No owner</span>
      ),
  },
  {
    id: "claims",
    label: "Claimed by",
    cell: ({ organizations }) =>
      organizations.map((claimant) => (
        <div key={claimant.id}>
          {visible(claimant.name)}: {claimant.sites.map(({ id, name }) => `${visible(name)} (${id})`).join(", ")}
          <br />
          <span class="small quiet">{factsOf(claimant).join(", ")}</span>
        </div>
      )),
  },
  {
    id: "decide",
    label: "Actions",
    cell: (dispute) => (
      <Button aria-label={`Choose owner of ${dispute.host}`} onClick={() => decide(dispute)}>
        Choose owner
      </Button>
    ),
  },
]

const factsOf = ({ listed_at, has_events, is_proved }: Claimant): string[] => [
  `since ${dayText(listed_at)}`,
  has_events ? "has events" : "no events",
  ...(is_proved ? ["proved by DNS"] : []),
]

/** Dialog that sets the owner of a host, or returns to the automatic rule. */
function Decision({ dispute, onClose }: { dispute: DisputeResponse; onClose(): void }) {
  const { host, organizations, decision } = dispute
  const decided = decision === null ? "" : String(decision.organization_id)
  const [chosen, setChosen] = useState(decided)
  const refresh = useRefresh()
  const path = `${ADMIN}/host-disputes/${encodeURIComponent(host)}`
  return (
    <Dialog title={`Owner of ${visible(host)}`} onClose={onClose} small>
      <Form
        submit={async () => {
          if (chosen === "") await remove(path)
          else await put(path, { organization_id: Number(chosen) })
          await refresh("host-disputes")
          toast(chosen === "" ? "Decision withdrawn" : "Owner saved")
          onClose()
        }}
      >
        {({ busy, errorOf }) => (
          <>
            <p>From now on, events that name only this host are counted for its owner. Events already counted are not moved.</p>
            <SelectField
              label="Owner"
              value={chosen}
              options={[
                { value: "", label: "Automatic (proof or first listing)" },
                ...organizations.map(({ id, name }) => ({ value: String(id), label: visible(name) })),
              ]}
              onValue={setChosen}
              error={errorOf("/organization_id")}
            />
            <div class="dialog-foot">
              <Button onClick={onClose}>Cancel</Button>
              <Button kind="confirm" type="submit" busy={busy} disabled={chosen === decided}>
                Save owner
              </Button>
            </div>
          </>
        )}
      </Form>
    </Dialog>
  )
}
