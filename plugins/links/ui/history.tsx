import { useQuery } from "@tanstack/react-query"
import { Answer, actionWords, Card, changesOf, EmptyState, get, timeText, visible } from "#plugin/ui"
import type { LinkAnswer } from "./answers.ts"

interface Deed {
  id: number
  at: string
  actor_email: string
  action: string
  changes: Record<string, unknown> | null
}

const LATEST = 20

/** Who changed the link, newest first, from the audit. */
export function History({ organizationId, link }: { organizationId: number; link: LinkAnswer }) {
  const deeds = useQuery({
    queryKey: ["links", link.id, "history", link.version],
    queryFn: ({ signal }) =>
      get<{ data: Deed[] }>(`/api/private/organizations/${organizationId}/audit?target=link:${link.id}&limit=${LATEST}`, signal),
  })
  return (
    <Card title="History">
      <Answer of={deeds} rows={4}>
        {({ data }) =>
          data.length === 0 ? (
            <EmptyState>Nothing of this link is in the audit any more.</EmptyState>
          ) : (
            <ol class="stack">
              {data.map((deed) => (
                <li key={deed.id}>
                  <p>
                    {actionWords(deed.action)} <span class="small quiet">{`by ${visible(deed.actor_email)}, ${timeText(deed.at)}`}</span>
                  </p>
                  {deed.action !== "links.link.create" && <Changes of={deed} />}
                </li>
              ))}
            </ol>
          )
        }
      </Answer>
    </Card>
  )
}

const Changes = ({ of: { changes } }: { of: Deed }) => (
  <ul class="small">
    {changesOf({ changes }).map(({ field, before, after }) => (
      <li key={field} class="history-change">
        {visible(field)}: {before === undefined ? "" : `${visible(before)} → `}
        {visible(after)}
      </li>
    ))}
  </ul>
)
