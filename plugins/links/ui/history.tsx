import { useQuery } from "@tanstack/react-query"
import type { AuditRowResponse } from "#plugin"
import { actionText, Card, changesOf, EmptyState, get, type PrivatePage, QueryResult, timeText, visible } from "#plugin/ui"
import type { LinkResponse } from "../responses.ts"

const LATEST = 20

/** Latest audit entries of the link, newest first. */
export function History({ organizationId, link }: { organizationId: number; link: LinkResponse }) {
  const entries = useQuery({
    queryKey: ["links", link.id, "history", link.version],
    queryFn: ({ signal }) =>
      get<PrivatePage<AuditRowResponse>>(
        `/api/private/organizations/${organizationId}/audit?target=link:${link.id}&limit=${LATEST}`,
        signal,
      ),
  })
  return (
    <Card title="History">
      <QueryResult of={entries} rows={4}>
        {({ data }) =>
          data.length === 0 ? (
            <EmptyState>No audit entries for this link.</EmptyState>
          ) : (
            <ol class="stack">
              {data.map((entry) => (
                <li key={entry.id}>
                  <p>
                    {actionText(entry.action)} <span class="small quiet">{`by ${visible(entry.actor_email)}, ${timeText(entry.at)}`}</span>
                  </p>
                  {entry.action !== "links.link.create" && <Changes of={entry} />}
                </li>
              ))}
            </ol>
          )
        }
      </QueryResult>
    </Card>
  )
}

const Changes = ({ of: { changes } }: { of: AuditRowResponse }) => (
  <ul class="small">
    {changesOf({ changes }).map(({ field, before, after }) => (
      <li key={field} class="history-change">
        {visible(field)}: {before === undefined ? "" : `${visible(before)} → `}
        {visible(after)}
      </li>
    ))}
  </ul>
)
