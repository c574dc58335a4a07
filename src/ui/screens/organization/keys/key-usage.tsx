import { useQuery } from "@tanstack/react-query"
import type { KeyResponse, UsageResponse } from "../../../../domain/key.ts"
import { get } from "../../../api/api.ts"
import { DataTable } from "../../../parts/data-table.tsx"
import { Dialog } from "../../../parts/dialog.tsx"
import { EmptyState, QueryResult } from "../../../parts/states.tsx"
import { exact, rangeText } from "../../../text/format.ts"
import { visible } from "../../../text/safe-text.tsx"
import { keysPath } from "./keys.ts"
import { scopePhrase, writesOf } from "./scopes.ts"

const useKeyUsage = (organizationId: number, keyId: number) =>
  useQuery({
    queryKey: ["key-usage", organizationId, keyId],
    queryFn: ({ signal }) => get<UsageResponse>(`${keysPath(organizationId)}/${keyId}/usage`, signal),
  })

export function KeyUsage({ organizationId, apiKey, onClose }: { organizationId: number; apiKey: KeyResponse; onClose(): void }) {
  const usage = useKeyUsage(organizationId, apiKey.id)
  return (
    <Dialog title={`Usage of ${visible(apiKey.name)}`} onClose={onClose} wide>
      <QueryResult of={usage} rows={4}>
        {({ from, to, data }) => {
          const unused = unusedWrites(apiKey.scopes, data)
          return (
            <div class="stack">
              <p class="small quiet">{rangeText(from, to)} (UTC). Requests of the last minute can be missing.</p>
              {unused.length > 0 && (
                <p class="notice" data-kind="warn">
                  This key was only used for reading in this period. It can also: {unused.map(scopePhrase).join("; ")}. Removing these
                  permissions is safer.
                </p>
              )}
              {data.length === 0 ? (
                <EmptyState>This key wasn't used in this period.</EmptyState>
              ) : (
                <DataTable
                  caption="Requests by route"
                  rows={byRoute(data)}
                  keyOf={({ route }) => route}
                  columns={[
                    { id: "route", label: "Route", cell: ({ route }) => <code>{route}</code> },
                    { id: "requests", label: "Requests", number: true, cell: ({ requests }) => exact(requests) },
                    { id: "rejected", label: "Rejected", number: true, cell: ({ rejected }) => exact(rejected) },
                    { id: "last", label: "Last used", cell: ({ lastDay }) => lastDay },
                  ]}
                />
              )}
            </div>
          )
        }}
      </QueryResult>
    </Dialog>
  )
}

interface RouteUse {
  route: string
  requests: number
  rejected: number
  lastDay: string
}

/** Sums the requests of a key by route, most used first. */
export function byRoute(rows: UsageResponse["data"]): RouteUse[] {
  const routes = Map.groupBy(rows, ({ route }) => route)
  return [...routes]
    .map(([route, own]) => ({
      route,
      requests: sum(own),
      rejected: sum(own.filter(({ status }) => status === "4xx")),
      lastDay:
        own
          .map(({ day }) => day)
          .toSorted()
          .at(-1) ?? "",
    }))
    .toSorted((a, b) => b.requests - a.requests)
}

export const sum = (rows: readonly { requests: number }[]): number => rows.reduce((total, { requests }) => total + requests, 0)

/** Returns the write scopes of a key that was used for reading only. */
export function unusedWrites(scopes: readonly string[], rows: UsageResponse["data"]): readonly string[] {
  const wrote = rows.some(
    ({ route }) => /^(PUT|PATCH|DELETE) /.test(route) || /^POST .*\/(sites|goals|funnels|events|annotations)$/.test(route),
  )
  return rows.length > 0 && !wrote ? writesOf(scopes) : []
}
