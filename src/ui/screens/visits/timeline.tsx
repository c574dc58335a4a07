import type { VisitResponse } from "../../../domain/visit-list.ts"
import { Icon } from "../../parts/icon.tsx"
import { clockText, duration, percent } from "../../text/format.ts"
import { TruncatedText, visible, webAddress } from "../../text/safe-text.tsx"
import { moneyText } from "./visit-texts.ts"

type TimelineEvent = VisitResponse["timeline"]["data"][number]

/** The events of a visit, oldest first. */
export const Timeline = ({ events, timezone }: { events: readonly TimelineEvent[]; timezone: string }) => (
  <ol class="timeline">
    {events.map((event, index) => (
      // Two events can be equal in everything.
      <li key={index} data-kind={event.name === "pageview" ? "view" : "event"}>
        <time dateTime={event.at}>{clockText(event.at, timezone, true)}</time>
        <div>
          <EventName of={event} />
          <EventFacts of={event} />
          <EventProperties of={event} />
        </div>
      </li>
    ))}
  </ol>
)

function EventName({ of: { name, page, hostname } }: { of: TimelineEvent }) {
  if (name !== "pageview") return <strong>{visible(name)}</strong>
  const address = page?.startsWith("/") && hostname !== null ? webAddress(`https://${hostname}${page}`) : undefined
  return (
    <span class="feed-page">
      <TruncatedText text={page ?? "No page"} />
      {address && (
        <a
          class="open-page"
          href={address}
          target="_blank"
          rel="noreferrer noopener"
          aria-label={`Open ${visible(page!)}`}
          title="Open page"
        >
          <Icon name="open" />
        </a>
      )}
    </span>
  )
}

function EventFacts({ of: event }: { of: TimelineEvent }) {
  const facts = [
    ...(event.name === "pageview" ? [] : [visible(event.page ?? "")]),
    ...(event.title === null || event.name !== "pageview" ? [] : [visible(event.title)]),
    ...(event.engaged_seconds === undefined ? [] : [`${duration(event.engaged_seconds)} engaged`]),
    ...(event.scroll_depth === undefined ? [] : [`${percent(event.scroll_depth)} scrolled`]),
    ...(event.revenue ? [moneyText(event.revenue)] : []),
    ...event.goals.map((goal) => `Goal: ${visible(goal)}`),
  ].filter((text) => text !== "")
  return facts.length === 0 ? null : <p class="small quiet">{facts.join(" · ")}</p>
}

function EventProperties({ of: { properties } }: { of: TimelineEvent }) {
  const entries = Object.entries(properties)
  if (entries.length === 0) return null
  return (
    <dl class="event-properties small">
      {entries.map(([key, value]) => (
        <div key={key}>
          <dt>{visible(key)}</dt>
          <dd>{visible(value)}</dd>
        </div>
      ))}
    </dl>
  )
}
