import { type Column, DataTable, Dialog, dayText, EmptyState, exact, QueryResult, visible } from "#plugin/ui"
import type { OrphansResponse } from "../responses.ts"
import { useDomains, useSiteQuery } from "./answers.ts"
import type { PanelProps } from "./domains.tsx"

type DomainOrphan = OrphansResponse["domains"][number]
type Orphan = OrphansResponse["instance"][number]

const KINDS: Readonly<Record<string, string>> = {
  unknown_slug: "No such link",
  root: "Root of the host",
  expired: "Expired link",
  not_started: "Link not started yet",
}

/** Requests of the last 30 days without a link: misprinted slugs, and links that expired too early. */
export default function Orphans({ siteId, onClose }: PanelProps) {
  const orphans = useSiteQuery<OrphansResponse>(siteId, "links/orphans")
  const hosts = useDomains(siteId).data?.data ?? []
  return (
    <Dialog title="Requests without a link, last 30 days" onClose={onClose} wide>
      <QueryResult of={orphans} rows={4}>
        {({ domains, instance }) =>
          domains.length === 0 && instance.length === 0 ? (
            <EmptyState>No requests without a link in the last 30 days.</EmptyState>
          ) : (
            <div class="stack">
              {domains.length > 0 && (
                <DataTable
                  caption="On link domains"
                  rows={domains}
                  keyOf={({ day, domain_id, kind, path_sample }) => [day, domain_id, kind, path_sample].join(" ")}
                  columns={[
                    ...columns<DomainOrphan>(),
                    { id: "host", label: "Host", cell: ({ domain_id }) => visible(hosts.find(({ id }) => id === domain_id)?.host ?? "") },
                    { id: "path", label: "Sample path", cell: ({ path_sample }) => <code>{visible(path_sample)}</code> },
                  ]}
                />
              )}
              {instance.length > 0 && (
                <>
                  <p class="small quiet">On the host of this instance, for all sites:</p>
                  <DataTable
                    caption="On this instance"
                    rows={instance}
                    keyOf={({ day, kind }) => `${day} ${kind}`}
                    columns={columns<Orphan>()}
                  />
                </>
              )}
            </div>
          )
        }
      </QueryResult>
    </Dialog>
  )
}

const columns = <Row extends Orphan>(): Column<Row>[] => [
  { id: "day", label: "Day", cell: ({ day }) => dayText(day) },
  { id: "kind", label: "Reason", cell: ({ kind }) => KINDS[kind] ?? kind },
  { id: "count", label: "Requests", number: true, cell: ({ count }) => exact(count) },
]
