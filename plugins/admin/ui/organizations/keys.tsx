import { Link } from "wouter"
import { type Column, FilterRow, Page, PagedTable, post, SearchField, SelectField, TimeAgo, useFilters, visible } from "#plugin/ui"
import type { KeyResponse } from "../../account-responses.ts"
import { ConfirmedAction, sentenceCase, withAny } from "../parts.tsx"
import { ADMIN, useRefresh, useRows } from "../queries.ts"

/** Page of the API keys of all organizations. Shows only the prefix and the last four characters of a key. */
export default function Keys() {
  const [filters, setFilters] = useFilters(["q", "state"])
  const refresh = useRefresh()
  const revoke = async ({ id }: KeyResponse) => {
    await post(`${ADMIN}/api-keys/${id}/revoke`, undefined)
    await refresh("api-keys")
  }
  return (
    <Page title="API keys">
      <FilterRow label="API keys">
        <SearchField label="Name, organization, owner or key" value={filters.q ?? ""} onValue={(q) => setFilters({ q })} />
        <SelectField
          label="State"
          value={filters.state ?? ""}
          options={withAny(["active", "expired", "revoked"])}
          onValue={(state) => setFilters({ state })}
        />
      </FilterRow>
      <PagedTable
        stacks
        of={useRows<KeyResponse>("api-keys", filters)}
        caption="API keys"
        columns={columnsOf(revoke)}
        keyOf={({ id }) => id}
        empty={
          filters.q === undefined && filters.state === undefined
            ? "No API keys yet. They are created on an organization's page."
            : "No API keys match these filters."
        }
      />
    </Page>
  )
}

const columnsOf = (revoke: (key: KeyResponse) => Promise<void>): Column<KeyResponse>[] => [
  {
    id: "name",
    label: "Name",
    cell: ({ name, prefix, last4 }) => (
      <>
        {visible(name)}{" "}
        <code class="whole">
          {prefix}…{last4}
        </code>
      </>
    ),
  },
  {
    id: "organization",
    label: "Organization",
    cell: ({ organization }) => <Link href={`/admin/organizations/${organization.id}`}>{visible(organization.name)}</Link>,
  },
  {
    id: "owner",
    label: "Owner",
    cell: ({ owner_email }) => (owner_email === null ? "organization" : visible(owner_email)),
  },
  { id: "scopes", label: "Scopes", cell: ({ scopes }) => <div class="wide">{scopes.join(", ")}</div> },
  {
    id: "sites",
    label: "Sites",
    cell: ({ site_ids }) => (site_ids === null ? "all" : site_ids.length === 0 ? "none" : site_ids.join(", ")),
  },
  { id: "state", label: "State", cell: ({ state }) => sentenceCase(state) },
  { id: "used", label: "Last used", cell: ({ last_used_at }) => <TimeAgo at={last_used_at} /> },
  { id: "expires", label: "Expires", cell: ({ expires_at }) => <TimeAgo at={expires_at} none="never" /> },
  {
    id: "revoke",
    label: "Actions",
    cell: (key) =>
      key.state === "active" && (
        <ConfirmedAction
          label="Revoke"
          about={key.name}
          title={`Revoke ${key.name}`}
          act="Revoke key"
          name={key.name}
          onConfirm={() => revoke(key)}
        >
          <p>Programs that use this key lose access immediately. This can't be undone.</p>
        </ConfirmedAction>
      ),
  },
]
