import type { Database } from "bun:sqlite"
import { VISIT_IDLE_MS } from "../../../domain/visit.ts"
import type { Journal } from "../journal.ts"
import type { SiteTail } from "../tail/tail.ts"
import { readState, type Tails } from "../tail/tails.ts"
import { SEGMENT_EVENTS } from "./build.ts"

/** Number of closed events in the tails of all sites that triggers a seal. It limits the replay at start. */
export const MAX_CLOSED_EVENTS = SEGMENT_EVENTS
/** Number of events that fill a segment: it has room for one more visit of ordinary size. */
const FULL_EVENTS = SEGMENT_EVENTS - 256
/** Age of the oldest closed visit at which a site with little traffic is sealed. */
const TAIL_AGE_MS = 24 * 3_600_000
/** Number of seconds after which a visit without arrivals is closed. */
const IDLE_SECONDS = VISIT_IDLE_MS / 1_000

/** Marks of the visits to seal. An open one can be taken back by its next event. */
export const CLOSED = 1
export const OPEN = 2

/** What a seal moves out of the log, up to a record. */
export interface SealPlan {
  floor: number
  sites: SitePlan[]
}

/** The visits of a site to seal now. */
export interface SitePlan {
  tail: SiteTail
  /** CLOSED or OPEN for each visit to seal, otherwise 0. */
  chosen: Uint8Array
}

export interface SealOptions {
  now: number
  /** Whether to seal all closed visits, however few there are. */
  all: boolean
  /** Memory of the tails above which open visits are sealed too. */
  tailBytes: number
}

/**
 * Plans a seal. Usually it goes up to the last record whose visits are all older than 30 minutes, which leaves the fewest visits to carry
 * over. It goes up to the latest record if visits have closed before their time, as those of a back-fill, or if the tail is over its limit.
 */
export function planSeal({ db, memory: { tails } }: Journal, { now, all, tailBytes }: SealOptions): SealPlan {
  const latest = tails.lastRecord
  if (tails.bytes > tailBytes) return { floor: latest, sites: chooseIdle(tails, now, tailBytes / 2) }
  const floor = sealableRecord(db, now)
  if (tails.closedEvents > 0 && latest > floor) {
    const sites = chooseClosed(tails, latest, now, all)
    const moved = sites.reduce((sum, { events }) => sum + events, 0)
    if (tails.closedEvents >= MAX_CLOSED_EVENTS || moved > tails.events - moved) return { floor: latest, sites }
  }
  return { floor, sites: chooseClosed(tails, floor, now, all) }
}

/**
 * Returns the last record before the first one with an arrival of the last 30 minutes, whose visits may still be open. An arrival far in
 * the future comes from a clock that was wrong then, and must not prevent later records from being sealed.
 */
function sealableRecord(db: Database, now: number): number {
  const open = "select id from log where arrived_at between ? and ? order by id limit 1"
  const first = db.query<{ id: number }, [number, number]>(open).get(now - VISIT_IDLE_MS, now + VISIT_IDLE_MS)
  const sql = "select coalesce(max(id), 0) as id from log where id between ? and ?"
  const floor = readState(db, "log_floor")
  const last = db.query<{ id: number }, [number, number]>(sql).get(floor, (first?.id ?? Number.MAX_SAFE_INTEGER) - 1)!.id // it returns a row
  return Math.max(floor, last)
}

interface ClosedPlan extends SitePlan {
  events: number
}

/** Chooses the sites to seal: the largest tails until the rest is small, and those a day old; with `all`, every site. */
function chooseClosed(tails: Tails, floor: number, now: number, all: boolean): ClosedPlan[] {
  const plans = [...tails.all()]
    .map((tail) => ({ tail, ...tail.closedVisits(floor, now) }))
    .map(({ closed, ...plan }) => ({ ...plan, chosen: closed }))
    .filter(({ events }) => events > 0)
  if (all) return plans
  plans.sort((a, b) => b.events - a.events)
  let rest = plans.reduce((sum, { events }) => sum + events, 0)
  if (rest < MAX_CLOSED_EVENTS) return plans.filter(({ oldest }) => now - oldest > TAIL_AGE_MS)
  const due = plans.filter(({ events, oldest }) => {
    if (rest <= MAX_CLOSED_EVENTS / 4 && now - oldest <= TAIL_AGE_MS) return false
    rest -= events
    return true
  })
  return due.map(fillingSegments)
}

/** Leaves out the latest visits of a large tail, so that its segments are full. They would otherwise have to be merged later. */
function fillingSegments(plan: ClosedPlan): ClosedPlan {
  if (plan.events < FULL_EVENTS) return plan
  const limit = plan.events - (plan.events % FULL_EVENTS)
  const chosen = plan.chosen.slice()
  let events = 0
  for (let visit = 0; visit < chosen.length; visit++) {
    if (chosen[visit] === 0) continue
    const { size } = plan.tail.visitPlace(visit)
    if (events + size > limit) chosen.fill(0, visit)
    else events += size
  }
  return { ...plan, chosen, events }
}

/**
 * Chooses the visits that have been without an arrival for longest, open ones included, until the rest of the tails takes `targetBytes`.
 * Takes the largest tails first, so that few segments are small.
 */
function chooseIdle(tails: Tails, now: number, targetBytes: number): SitePlan[] {
  const byAge = new Float64Array(IDLE_SECONDS + 2)
  for (const tail of tails.all()) tail.ageBytes(now, byAge)
  const total = byAge.reduce((sum, bytes) => sum + bytes, 0)
  // The figures by age leave out room to grow and properties, so they are only used as shares.
  const target = (total * targetBytes) / tails.bytes
  let minAge = 0
  let kept = 0
  while (minAge < byAge.length - 1 && kept + byAge[minAge]! <= target) kept += byAge[minAge++]!
  const plans = [...tails.all()].map((tail) => ({ tail, ...tail.findIdle(now, minAge) })).filter(({ bytes }) => bytes > 0)
  plans.sort((a, b) => b.bytes - a.bytes)
  let rest = total
  return plans.filter(({ bytes }) => {
    if (rest <= target) return false
    rest -= bytes
    return true
  })
}
