import { useQuery } from "@tanstack/react-query"
import { API, ORGANIZATION } from "../../../domain/limits.ts"
import { get } from "../../api.ts"
import { exact, timeText } from "../../format.ts"
import { Answer } from "../../parts/answer.tsx"
import { DataTable } from "../../parts/data-table.tsx"
import { Page } from "../../parts/page.tsx"
import { EmptyState } from "../../parts/states.tsx"
import { visible } from "../../safe-text.ts"
import { type ApiKey, keysPath, useApiKeys } from "./api-keys.tsx"
import { may, type OwnOrganization, type SectionProps, useOrganization } from "./own-organization.ts"
import { sum, type UsageShown } from "./usage-rows.ts"

/** How large the organization is, and what its keys were used for. */
export function Usage({ organization }: SectionProps) {
  const shown = useOrganization(organization.id)
  return (
    <Page title="Usage">
      <section class="card stack" aria-labelledby="size">
        <h2 id="size">Size</h2>
        <Answer of={shown} rows={3}>
          {({ counts }) => (
            <dl class="facts">
              <dt>Sites</dt>
              <dd>{exact(counts.sites)}</dd>
              <dt>Members</dt>
              <dd>
                {exact(counts.members)} of at most {exact(ORGANIZATION.members)}
              </dd>
              <dt>API keys that work</dt>
              <dd>
                {exact(counts.keys)} of at most {exact(API.keysPerOrganization)}
              </dd>
            </dl>
          )}
        </Answer>
      </section>
      {may(organization, "keys:write") && <RequestsOfKeys organization={organization} />}
    </Page>
  )
}

interface KeyRequests {
  key: ApiKey
  requests: number
  refused: number
  mcp: number
}

/** One call each: so many of those used last are asked for. */
const ASKED = 30

function RequestsOfKeys({ organization }: { organization: OwnOrganization }) {
  const keys = useApiKeys(organization.id, "")
  const used = (keys.data ?? [])
    .filter(({ last_used_at }) => last_used_at !== null)
    .toSorted((a, b) => (b.last_used_at ?? "").localeCompare(a.last_used_at ?? ""))
  const asked = used.slice(0, ASKED)
  const requests = useQuery({
    queryKey: ["key-usage", organization.id, "all", asked.map(({ id }) => id)],
    queryFn: async ({ signal }) => {
      const rows: KeyRequests[] = []
      for (const key of asked) rows.push(requestsOf(key, await get<UsageShown>(`${keysPath(organization.id)}/${key.id}/usage`, signal)))
      return rows
    },
    enabled: keys.data !== undefined,
  })
  return (
    <section class="card stack" aria-labelledby="requests">
      <h2 id="requests">Requests by key, last 30 days</h2>
      {keys.data === undefined ? (
        <Answer of={keys} rows={3}>
          {() => null}
        </Answer>
      ) : (
        <Answer of={requests} rows={3}>
          {(rows) =>
            rows.length === 0 ? (
              <EmptyState>No key has been used yet.</EmptyState>
            ) : (
              <>
                <DataTable
                  caption="Requests by key"
                  rows={rows}
                  keyOf={({ key }) => key.id}
                  columns={[
                    { id: "name", label: "Key", cell: ({ key }) => visible(key.name) },
                    { id: "requests", label: "Requests", number: true, cell: (row) => exact(row.requests) },
                    { id: "refused", label: "Refused", number: true, cell: (row) => exact(row.refused) },
                    { id: "mcp", label: "Through MCP", number: true, cell: (row) => exact(row.mcp) },
                    { id: "last", label: "Last used", cell: ({ key }) => key.last_used_at && timeText(key.last_used_at) },
                  ]}
                />
                {used.length > ASKED && (
                  <p class="small quiet">
                    The {ASKED} keys that were used last, of {used.length}.
                  </p>
                )}
              </>
            )
          }
        </Answer>
      )}
    </section>
  )
}

const requestsOf = (key: ApiKey, { data }: UsageShown): KeyRequests => ({
  key,
  requests: sum(data),
  refused: sum(data.filter(({ status }) => status === "4xx")),
  mcp: sum(data.filter(({ route }) => route.endsWith("/mcp"))),
})
