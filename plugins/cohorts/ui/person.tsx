import { useState } from "preact/hooks"
import { useParams } from "wouter"
import {
  Button,
  Card,
  Confirm,
  counted,
  DescriptionList,
  duration,
  ErrorState,
  get,
  Page,
  post,
  QueryResult,
  TimeAgo,
  timeText,
  toast,
  useSiteId,
  valueText,
  visible,
} from "#plugin/ui"
import type { ErasureResponse, PersonResponse } from "../responses.ts"
import { useRights, useSiteQuery } from "./answers.ts"

type Visit = PersonResponse["recent"]["data"][number]
const KIND_LABELS: Readonly<Record<PersonResponse["kind"], string>> = {
  rotating: "a rotating ID, for one day, week or month",
  device: "an ID stored on the device",
  user: "a user ID",
}

/** Page of one person: what they did, visit by visit. */
export default function PersonPage() {
  const siteId = useSiteId()
  const { person: token = "" } = useParams<{ person: string }>()
  const path = `/api/private/sites/${siteId}/power-users/${encodeURIComponent(token)}`
  const answer = useSiteQuery<PersonResponse>(siteId, `power-users/${encodeURIComponent(token)}`)
  const [more, setMore] = useState<{ visits: Visit[]; cursor: string | null }>()
  const [isErasing, setErasing] = useState(false)
  const { erases } = useRights(siteId)
  const person = answer.data
  const cursor = more ? more.cursor : (person?.recent.next_cursor ?? null)
  const showMore = async () => {
    const next = await get<PersonResponse>(`${path}?cursor=${encodeURIComponent(cursor ?? "")}`)
    setMore({ visits: [...(more?.visits ?? []), ...next.recent.data], cursor: next.recent.next_cursor })
  }
  return (
    <Page
      title={person ? visible(person.label) : "Person"}
      parent={{ href: `/sites/${siteId}/power-users`, label: "Power users" }}
      actions={
        person && (
          <>
            <a class="button" href={`/api/private/sites/${siteId}/people/${token}/export`} download>
              Export
            </a>
            {erases && (
              <Button kind="danger" icon="trash" onClick={() => setErasing(true)}>
                Erase person
              </Button>
            )}
          </>
        )
      }
    >
      {answer.error && !person ? (
        <ErrorState error={answer.error} onRetry={() => void answer.refetch()} />
      ) : (
        <QueryResult of={answer} rows={8}>
          {(found) => (
            <div class="stack">
              <Card title="Activity" full>
                <DescriptionList of={factsOf(found)} />
              </Card>
              <Card title="Visits" full>
                <ol class="visit-list">
                  {[...found.recent.data, ...(more?.visits ?? [])].map((visit) => (
                    <VisitItem key={visit.started_at} of={visit} />
                  ))}
                </ol>
                {cursor !== null && (
                  <div class="pager">
                    <Button onClick={() => void showMore()}>Show more</Button>
                  </div>
                )}
              </Card>
            </div>
          )}
        </QueryResult>
      )}
      {isErasing && person && <EraseDialog siteId={siteId} person={person} onClose={() => setErasing(false)} />}
    </Page>
  )
}

const factsOf = (person: PersonResponse) =>
  [
    ["Recognized by", KIND_LABELS[person.kind]],
    ["First seen", <TimeAgo key="first" at={person.first_seen} />],
    ["Last seen", <TimeAgo key="last" at={person.last_seen} />],
    [
      "Last 28 days",
      `${counted(person.active_days, "active day")}, ${counted(person.visits, "visit")}, ${counted(person.events, "event")}`,
    ],
    ...(person.revenue?.length
      ? ([["Revenue", person.revenue.map(({ amount, currency }) => `${amount} ${currency}`).join(", ")]] as const)
      : []),
    ...(person.top_pages.length > 0 ? ([["Top pages", person.top_pages.map(visible).join(", ")]] as const) : []),
  ] as const

const VisitItem = ({ of: visit }: { of: Visit }) => (
  <li>
    <details>
      <summary>
        <span>{timeText(visit.started_at)}</span>
        <span class="quiet small">
          {[
            visible(visit.entry_page ?? "no page"),
            visit.source === null ? "Direct" : visible(visit.source),
            ...(visit.country === null ? [] : [valueText("country", visit.country)]),
            ...(visit.device === null ? [] : [visible(visit.device)]),
            counted(visit.pageviews, "pageview"),
            duration(visit.duration),
          ].join(" · ")}
        </span>
      </summary>
      <ol class="event-list">
        {visit.events.map((event, index) => (
          // Two events can be equal in everything.
          <li key={index}>
            <span class="quiet small">{timeText(event.at)}</span>{" "}
            <span>{event.name === "pageview" ? visible(event.page ?? "") : visible(event.name)}</span>{" "}
            <span class="quiet small">
              {Object.entries(event.properties as Record<string, string>)
                .map(([name, value]) => `${visible(name)}: ${visible(value)}`)
                .join(", ")}
            </span>
          </li>
        ))}
      </ol>
    </details>
  </li>
)

function EraseDialog({ siteId, person, onClose }: { siteId: number; person: PersonResponse; onClose(): void }) {
  return (
    <Confirm
      title="Erase this person?"
      act="Erase person"
      name={visible(person.label)}
      onConfirm={async () => {
        const { note } = await post<ErasureResponse>(`/api/private/sites/${siteId}/people/erase`, { person: person.person, confirm: true })
        toast(`The person will be erased within 24 hours. ${note}`)
        onClose()
      }}
      onClose={onClose}
    >
      <p>All visits of this person and their events are removed from every report. This can't be undone.</p>
    </Confirm>
  )
}
