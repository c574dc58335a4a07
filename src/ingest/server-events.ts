import type { Fault } from "../domain/error.ts"
import type { DropReason } from "../domain/event.ts"
import { COLLECT } from "../domain/limits.ts"
import type { Site } from "../domain/site.ts"
import { type Candidate, candidateOf } from "./candidate.ts"
import { noteFrom } from "./drop-notes.ts"
import type { VisitorKeys } from "./identity.ts"
import type { Intake } from "./intake.ts"
import { visitorKeys } from "./keys.ts"
import { readServerEvent, type ServerEvent } from "./payloads/server.ts"
import { serverFacts } from "./request.ts"
import { moneyOf, type RevenueFault } from "./revenue.ts"

/** What became of the events of a request; the three add up to those sent. */
export interface ServerAnswer {
  accepted: number
  rejected: { index: number; code: string; detail: string }[]
  dropped: { index: number; reason: DropReason }[]
}

const EVENT_BYTES = 1_024

/** Takes events of a site's own server (api.md section 9). All that are valid are stored in one transaction. */
export async function collectFromServer(intake: Intake, site: Site, sent: readonly unknown[]): Promise<ServerAnswer> {
  const now = intake.clock.now()
  const lost = requestKeys(intake)
  try {
    return await collectAll(intake, site, sent, now, lost)
  } finally {
    lost.forget(site.id)
  }
}

async function collectAll(
  intake: Intake,
  site: Site,
  sent: readonly unknown[],
  now: number,
  lost: ReturnType<typeof requestKeys>,
): Promise<ServerAnswer> {
  const cutoff = retentionCutoff(site, now)
  const answer: ServerAnswer = { accepted: 0, rejected: [], dropped: [] }
  const kept: { index: number; candidate: Candidate }[] = []
  for (const [index, item] of sent.entries()) {
    const event = checked(item, site, now, cutoff)
    if ("code" in event) answer.rejected.push({ index, code: event.code, detail: event.detail })
    else {
      const verdict = await judge(intake, site, event, now, lost)
      if (typeof verdict === "string") answer.dropped.push({ index, reason: verdict })
      else kept.push({ index, candidate: verdict })
    }
  }
  await storeAll(intake, kept, answer)
  answer.dropped.sort((left, right) => left.index - right.index)
  return answer
}

async function storeAll({ buffer }: Intake, kept: readonly { index: number; candidate: Candidate }[], answer: ServerAnswer): Promise<void> {
  if (kept.length === 0) return
  const candidates = kept.map(({ candidate }) => candidate)
  for (const [at, reason] of (await buffer.store(candidates, candidates.length * EVENT_BYTES)).entries()) {
    if (reason) answer.dropped.push({ index: kept[at]!.index, reason })
    else answer.accepted++
  }
}

type Checked = ServerEvent & { at: number }

/** The event with its moment, or what is wrong with it. */
function checked(item: unknown, site: Site, now: number, cutoff: number): Checked | Fault {
  const event = readServerEvent(item)
  if ("code" in event) return event
  const at = momentOf(event, now)
  return retentionFault(at, cutoff) ?? revenueFault(event, site) ?? { ...event, at }
}

/** A moment in the future is a clock that is wrong: within a minute it is believed, beyond it is now. */
const momentOf = ({ timestamp }: ServerEvent, now: number): number =>
  timestamp === undefined || timestamp > now + COLLECT.futureMs ? now : timestamp

/** Local midnight of today − retention_days: what began before is gone, or soon will be. */
function retentionCutoff(site: Site, now: number): number {
  if (site.retention_days === null) return 0
  const today = Temporal.Instant.fromEpochMilliseconds(now).toZonedDateTimeISO(site.timezone).toPlainDate()
  return today.subtract({ days: site.retention_days }).toZonedDateTime(site.timezone).epochMilliseconds
}

const retentionFault = (at: number, cutoff: number): Fault | undefined =>
  at < cutoff ? { pointer: "/timestamp", code: "beyond_retention", detail: "timestamp lies before the site's retention." } : undefined

const SAYS: Readonly<Record<RevenueFault, string>> = {
  invalid_currency: "needs a currency of today, as three letters: EUR",
  invalid_amount: "needs an amount in major units, as a number or decimal text",
  too_many_decimals: "has more decimals than its currency",
}

function revenueFault({ incoming }: ServerEvent, site: Site): Fault | undefined {
  const money = incoming.revenue && moneyOf(incoming.revenue, site.revenue_currency)
  return typeof money === "string" ? { pointer: "/revenue", code: money, detail: `revenue ${SAYS[money]}.` } : undefined
}

async function judge(
  intake: Intake,
  site: Site,
  { incoming, ip, userAgent, at }: Checked,
  now: number,
  lost: ReturnType<typeof requestKeys>,
): Promise<Candidate | DropReason> {
  const { calendar, pipeline, buffer } = intake
  const isLost = calendar.periods(site, at, now).current.expiresAt <= now
  const known = await visitorKeys(intake, { site, incoming, objects: false, at, now })
  const keys = isLost ? lost.instead(known) : known
  const request = serverFacts(userAgent)
  const passage = pipeline({ site, incoming, sender: "server", request, at, hostname: incoming.address.host, address: ip, keys })
  const day = calendar.day(site, at)
  if (!("drop" in passage)) return candidateOf(passage.draft, day)
  buffer.drop(noteFrom(passage.draft, passage.drop, day))
  return passage.drop.dropped
}

/**
 * Keys for periods whose salt is destroyed: a random one in its place, under a name of this request. Visitors merge inside
 * the request and never with others, and no file knows the name.
 */
function requestKeys({ random, store }: Intake) {
  const request = `~${Buffer.from(random(16)).toString("hex")}`
  const salts = new Map<string, Uint8Array>()
  return {
    instead(keys: VisitorKeys): VisitorKeys {
      const period = `${request} ${keys.current.period}`
      const salt = salts.get(period) ?? random(32)
      salts.set(period, salt)
      return { ...keys, current: { period, salt }, previous: undefined }
    },
    forget(siteId: number): void {
      for (const period of salts.keys()) store.forgetVisitors(siteId, period)
    },
  }
}
