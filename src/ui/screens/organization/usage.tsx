import { useQuery } from "@tanstack/react-query"
import type { KeyResponse, UsageResponse } from "../../../domain/key.ts"
import { API, ORGANIZATION } from "../../../domain/limits.ts"
import { get } from "../../api/api.ts"
import { DataTable } from "../../parts/data-table.tsx"
import { Page } from "../../parts/page.tsx"
import { EmptyState, QueryResult } from "../../parts/states.tsx"
import { exact, timeText } from "../../text/format.ts"
import { visible } from "../../text/safe-text.tsx"
import { sum } from "./keys/key-usage.tsx"
import { keysPath, useApiKeys } from "./keys/keys.ts"
import { can, type OwnOrganization, type SectionProps, useOrganization } from "./own-organization.ts"

/** Shows the size of the organization and the requests of its API keys. */
export function Usage({ organization }: SectionProps) {
  const shown = useOrganization(organization.id)
  return (
    <Page title="Usage">
      <section class="card stack" aria-labelledby="size">
        <h2 id="size">Limits</h2>
        <QueryResult of={shown} rows={3}>
          {({ counts }) => (
            <dl class="facts">
              <dt>Sites</dt>
              <dd>{exact(counts.sites)}</dd>
              <dt>Members</dt>
              <dd>
                {exact(counts.members)} of {exact(ORGANIZATION.members)}
              </dd>
              <dt>Active API keys</dt>
              <dd>
                {exact(counts.keys)} of {exact(API.keysPerOrganization)}
              </dd>
            </dl>
          )}
        </QueryResult>
      </section>
      {can(organization, "keys:write") && <RequestsOfKeys organization={organization} />}
    </Page>
  )
}

interface KeyRequests {
  key: KeyResponse
  requests: number
  rejected: number
  mcp: number
}

/** Maximum number of keys shown. Each needs one request, so only the most recently used are fetched. */
const MAX_KEYS = 30

function RequestsOfKeys({ organization }: { organization: OwnOrganization }) {
  const keys = useApiKeys(organization.id, "")
  const used = (keys.data ?? [])
    .filter(({ last_used_at }) => last_used_at !== null)
    .toSorted((a, b) => (b.last_used_at ?? "").localeCompare(a.last_used_at ?? ""))
  const asked = used.slice(0, MAX_KEYS)
  const requests = useQuery({
    queryKey: ["key-usage", organization.id, "all", asked.map(({ id }) => id)],
    queryFn: async ({ signal }) => {
      const rows: KeyRequests[] = []
      for (const key of asked) rows.push(requestsOf(key, await get<UsageResponse>(`${keysPath(organization.id)}/${key.id}/usage`, signal)))
      return rows
    },
    enabled: keys.data !== undefined,
  })
  return (
    <section class="card stack" aria-labelledby="requests">
      <h2 id="requests">API requests by key in the last 30 days</h2>
      {keys.data === undefined ? (
        <QueryResult of={keys} rows={3}>
          {() => null}
        </QueryResult>
      ) : (
        <QueryResult of={requests} rows={3}>
          {(rows) =>
            rows.length === 0 ? (
              <EmptyState>No API requests in the last 30 days.</EmptyState>
            ) : (
              <>
                <DataTable
                  caption="Requests by key"
                  rows={rows}
                  keyOf={({ key }) => key.id}
                  columns={[
                    { id: "name", label: "API key", cell: ({ key }) => visible(key.name) },
                    { id: "requests", label: "Requests", number: true, cell: (row) => exact(row.requests) },
                    { id: "rejected", label: "Rejected", number: true, cell: (row) => exact(row.rejected) },
                    { id: "mcp", label: "Through MCP", number: true, cell: (row) => exact(row.mcp) },
                    { id: "last", label: "Last used", cell: ({ key }) => key.last_used_at && timeText(key.last_used_at) },
                  ]}
                />
                {used.length > MAX_KEYS && (
                  <p class="small quiet">
                    Shows the {MAX_KEYS} most recently used keys of {used.length}.
                  </p>
                )}
              </>
            )
          }
        </QueryResult>
      )}
    </section>
  )
}

const requestsOf = (key: KeyResponse, { data }: UsageResponse): KeyRequests => ({
  key,
  requests: sum(data),
  rejected: sum(data.filter(({ status }) => status === "4xx")),
  mcp: sum(data.filter(({ route }) => route.endsWith("/mcp"))),
})
