import { useQuery } from "@tanstack/react-query"
import { get } from "../../api.ts"
import { exact, rangeText } from "../../format.ts"
import { Answer } from "../../parts/answer.tsx"
import { DataTable } from "../../parts/data-table.tsx"
import { Dialog } from "../../parts/dialog.tsx"
import { EmptyState } from "../../parts/states.tsx"
import { visible } from "../../safe-text.ts"
import { type ApiKey, keysPath } from "./api-keys.tsx"
import { scopeWords } from "./scopes.ts"
import { byRoute, type UsageShown, unusedWrites } from "./usage-rows.ts"

const useKeyUsage = (organizationId: number, keyId: number) =>
  useQuery({
    queryKey: ["key-usage", organizationId, keyId],
    queryFn: ({ signal }) => get<UsageShown>(`${keysPath(organizationId)}/${keyId}/usage`, signal),
  })

export function KeyUsage({ organizationId, apiKey, onClose }: { organizationId: number; apiKey: ApiKey; onClose(): void }) {
  const usage = useKeyUsage(organizationId, apiKey.id)
  return (
    <Dialog title={`Usage of ${visible(apiKey.name)}`} onClose={onClose} wide>
      <Answer of={usage} rows={4}>
        {({ from, to, data }) => {
          const unused = unusedWrites(apiKey.scopes, data)
          return (
            <div class="stack">
              <p class="small quiet">{rangeText(from, to)}, days of UTC. Requests of the last minute may be missing.</p>
              {unused.length > 0 && (
                <p class="notice" data-kind="warn">
                  In these days it was used for reading alone. It may also {unused.map(scopeWords).join("; ")}: a key without that is safer.
                </p>
              )}
              {data.length === 0 ? (
                <EmptyState>The key was not used in these days.</EmptyState>
              ) : (
                <DataTable
                  caption="Requests by route"
                  rows={byRoute(data)}
                  keyOf={({ route }) => route}
                  columns={[
                    { id: "route", label: "Route", cell: ({ route }) => <code>{route}</code> },
                    { id: "requests", label: "Requests", number: true, cell: ({ requests }) => exact(requests) },
                    { id: "refused", label: "Refused", number: true, cell: ({ refused }) => exact(refused) },
                    { id: "last", label: "Last day", cell: ({ lastDay }) => lastDay },
                  ]}
                />
              )}
            </div>
          )
        }}
      </Answer>
    </Dialog>
  )
}
