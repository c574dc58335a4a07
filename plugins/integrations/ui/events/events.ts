import { useQuery } from "@tanstack/react-query"
import { get } from "#plugin/ui"
import type { EventsResponse } from "../../responses.ts"

export type EventFacts = EventsResponse["data"][number]

/** Fetches the events that can be chosen. They change only with a new version of the server or its plugins. */
export const useEvents = () =>
  useQuery({
    queryKey: ["integration-events"],
    queryFn: ({ signal }) => get<EventsResponse>("/api/private/integrations/events", signal),
    staleTime: Number.POSITIVE_INFINITY,
    // The test event is sent on request only.
    select: ({ data }) => data.filter(({ event }) => event !== "ping"),
  })

const GROUPS: readonly (readonly [heading: string, things: readonly string[]])[] = [
  ["Sites", ["site"]],
  ["Goals and funnels", ["goal", "funnel"]],
  ["Imports", ["import"]],
  ["Revenue", ["revenue"]],
  ["Alerts and reports", ["traffic", "report"]],
  ["Integrations", ["integration", "webhook"]],
  ["Members and API keys", ["member", "api_key"]],
  ["Instance", ["backup"]],
]
const thingOf = (event: string): string => event.split(".")[0]!

/** Groups events by what they are about, in the order of the groups. */
export function groupsOf(events: readonly EventFacts[]): { heading: string; events: EventFacts[] }[] {
  const grouped = GROUPS.map(([heading, things]) => ({ heading, events: events.filter(({ event }) => things.includes(thingOf(event))) }))
  const others = events.filter(({ event }) => !GROUPS.some(([, things]) => things.includes(thingOf(event))))
  return [...grouped, { heading: "Other", events: others }].filter((group) => group.events.length > 0)
}

/** Returns the names of the fields that an event sends, from the schema of its message. */
export function fieldsOf({ schema }: EventFacts): string[] {
  const data = (schema as { properties?: { data?: { anyOf?: { properties?: object }[] } } }).properties?.data
  return Object.keys(data?.anyOf?.[0]?.properties ?? {})
}

/** Names the events that are chosen: their number, or the title of a single one. */
export function eventsText(chosen: readonly string[], known: readonly EventFacts[] | undefined): string {
  const named = chosen.filter((event) => event !== "*")
  const [first] = named
  const one = first && (known?.find(({ event }) => event === first)?.title ?? first)
  if (chosen.includes("*")) return named.length === 0 ? "All events" : `All events and ${named.length === 1 ? one : `${named.length} more`}`
  return named.length === 1 ? one! : `${named.length} events`
}
