import type { Counter, DropReason, NewEvent } from "../domain/event.ts"
import type { RecordKind } from "../domain/record.ts"
import type { VisitTraits } from "../domain/visit.ts"
import type { DropSample } from "../store/events/writer.ts"
import type { Draft } from "./draft.ts"
import type { Identity } from "./identity.ts"

/** An event that passed every rule a request alone can judge, ready to be joined to a visit. */
export interface Candidate {
  siteId: number
  /** The site's local day of the event. */
  day: string
  event: NewEvent
  traits: VisitTraits
  identity: Identity
  /** The event's own id; "" without one. */
  id: string
  /** The order a sale belongs to; "" without one. */
  orderId: string
  counters: readonly Counter[]
  /** It is a record of an area, and joins no visit. */
  records?: RecordKind
  /** Of a record: its visitor is not to be told from others. */
  isNobody?: boolean
  /** No event is stored: it only says who the visitor of the open visit is. */
  identifies: boolean
}

/** Which property names the order of a sale. */
const ORDER_PROPERTY = "order_id"

export function candidateOf(draft: Draft, day: string): Candidate {
  const { site, incoming, identity } = draft
  if (!identity) throw new Error("The pipeline ended without a visitor")
  return {
    siteId: site.id,
    day,
    event: eventOf(draft),
    traits: traitsOf(draft),
    identity,
    id: incoming.id,
    orderId: (draft.revenue && draft.props.find(([key]) => key === ORDER_PROPERTY)?.[1]) ?? "",
    counters: draft.counters,
    identifies: incoming.identifies === true,
  }
}

function eventOf({ at, incoming, page, hostname, title, props, revenue }: Draft): NewEvent {
  const { name, interactive, engagement, vitals } = incoming
  return {
    at,
    name,
    page,
    hostname,
    title,
    interactive,
    props,
    ...(revenue && { revenue }),
    ...(engagement && { engagement }),
    ...(vitals && { vitals }),
  }
}

function traitsOf({ acquisition, referrer, place, agent, size, language }: Draft): VisitTraits {
  return {
    source: acquisition.source,
    referrer: referrer.text,
    channel: acquisition.channel,
    utm_source: acquisition.utm_source,
    utm_medium: acquisition.utm_medium,
    utm_campaign: acquisition.utm_campaign,
    utm_term: acquisition.utm_term,
    utm_content: acquisition.utm_content,
    click_id_type: acquisition.click_id_type,
    country: place.country,
    region: place.region,
    city: place.city,
    device: agent.device,
    size,
    browser: agent.browser,
    browser_version: agent.browser_version,
    os: agent.os,
    os_version: agent.os_version,
    language,
  }
}

/** A dropped event as its site's owner sees it, also when the pipeline had not come far. */
export const sampleOf = (reason: DropReason, { at, hostname, page, agent, place }: Draft): DropSample => ({
  at,
  reason,
  hostname,
  page,
  browser: agent.browser,
  country: place.country,
})
