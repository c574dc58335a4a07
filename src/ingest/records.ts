import type { RecordKind } from "../domain/record.ts"
import type { Site } from "../domain/site.ts"
import { agentOf, NO_AGENT } from "./agent.ts"
import { type Candidate, candidateOf } from "./candidate.ts"
import type { Client } from "./client-address.ts"
import { newDraft, type RequestFacts } from "./draft.ts"
import type { Intake } from "./intake.ts"
import { visitorKeys } from "./keys.ts"
import { firstLanguage } from "./language.ts"
import { NOTHING_SENT } from "./payloads/foreign.ts"
import type { Incoming } from "./payloads/incoming.ts"
import { NOWHERE, type PlaceFile } from "./places.ts"
import type { Shields } from "./shields.ts"
import { setPlace } from "./steps/place.ts"
import * as values from "./steps/values.ts"
import { setVisitor } from "./steps/visitor.ts"
import { splitAddress } from "./web-address.ts"

/** What an area records of a request. */
export interface NewRecord {
  kind: RecordKind
  /** `link_click`, `pixel_open`. */
  name: string
  /** What the record is about, by key. Texts, as properties of events are. */
  props: Readonly<Record<string, string>>
  /** The request came through somebody else (a mail program, a cache): place, device, browser and system are not the visitor's. */
  proxied?: boolean
}

/**
 * Stores a record of a request with the visitor it comes from: by the same input and salt as collection, so that it shares its
 * visitor with the visit that follows. No rule drops it, because areas show what is a bot. Whoever objects (DNT, GPC) is stored
 * without visitor and place. Here the address ends. Rejects when it could not be stored.
 */
export async function storeRecord(
  intake: Intake,
  placeFile: PlaceFile | undefined,
  site: Site,
  record: NewRecord,
  { url, client, facts }: { url: string; client: Client; facts: RequestFacts },
): Promise<void> {
  const now = intake.clock.now()
  const incoming = incomingOf(record, url, facts)
  const keys = await visitorKeys(intake, { site, incoming, objects: facts.objects, at: now, now })
  const arrival = { site, incoming, sender: "server" as const, request: facts, at: now, hostname: incoming.address.host, keys }
  const draft = newDraft({ ...arrival, address: client.address }, NO_SHIELDS)
  values.setAgent(draft)
  values.setReferrer(draft)
  setPlace(placeFile)(draft)
  values.setAcquisition(draft)
  values.setLanguage(draft)
  draft.page = incoming.address.path
  draft.props = incoming.props
  setVisitor(draft)
  if (facts.objects || record.proxied) draft.place = NOWHERE
  if (record.proxied) draft.agent = NO_AGENT
  const candidate: Candidate = { ...candidateOf(draft, intake.calendar.day(site, now)), records: record.kind, isNobody: facts.objects }
  await intake.buffer.store([candidate], RECORD_BYTES)
}

/** About what a record takes in memory while it waits. */
const RECORD_BYTES = 1_024

/** Nothing is refused here, so no rule is ever asked. */
const NO_SHIELDS = {} as Shields

const incomingOf = ({ name, props }: NewRecord, url: string, { referer }: RequestFacts): Incoming => ({
  ...NOTHING_SENT,
  name,
  address: splitAddress(url),
  referrer: referer,
  props: Object.entries(props),
  interactive: false,
})

/** What a request tells of who sent it, without who that is. "" is missing. */
export interface SenderFacts {
  isBot: boolean
  device: string
  browser: string
  os: string
  /** ISO 3166-1, and 3166-2. */
  country: string
  region: string
  language: string
  /** Does not want to be followed (DNT, GPC): nothing of the above may be kept of them. */
  objects: boolean
}

export function senderFacts(placeFile: PlaceFile | undefined, { client, facts }: { client: Client; facts: RequestFacts }): SenderFacts {
  const { isBot, device, browser, os } = agentOf(facts.userAgent)
  const found =
    facts.country === "" && placeFile && client.address ? placeFile.find(client.address) : { ...NOWHERE, country: facts.country }
  const { country, region } = found
  return { isBot, device, browser, os, country, region, language: firstLanguage(facts.acceptLanguage), objects: facts.objects }
}
