import { VISIT_EVENTS, VISIT_IDLE_MS, VISITOR_KINDS } from "../../../domain/visit.ts"
import type { OpenVisit } from "../writer.ts"
import { type GrowingRows, GrowingUint32 } from "./growing.ts"
import { NumberMap } from "./number-map.ts"

/** The columns of a tail's visits that determine whether a visit is open. */
type Visits = GrowingRows<"rotating" | "visitor" | "visitor_kind" | "eventCount" | "sealing", "id" | "start" | "activeAt" | "arrivedAt">

const USER = VISITOR_KINDS.indexOf("user")

/**
 * An index of open visits by visitor. Many people can share one rotating id, such as when a server sends events that only identify
 * users, so visits of users have an index of their own. Only the writer needs it; readers never build it.
 */
export class VisitIndex {
  readonly #visits: Visits
  readonly #all = new RowChains()
  /** Visits without a user when they were opened. */
  readonly #unidentified = new RowChains()
  readonly #users = new Map<number, number[]>()

  constructor(visits: Visits) {
    this.#visits = visits
    for (let row = 0; row < visits.length; row++) this.add(row)
  }

  add(row: number): void {
    const { rotating: under, visitor_kind } = this.#visits.uint32
    const rotating = under[row]!
    this.#all.add(rotating, row)
    if (visitor_kind[row] === USER) this.addToUser(row)
    else this.#unidentified.add(rotating, row)
  }

  /** Adds a visit that now belongs to a user. */
  addToUser(row: number): void {
    const user = this.#visits.uint32.visitor[row]!
    const rows = this.#users.get(user)
    if (rows) rows.push(row)
    else this.#users.set(user, [row])
  }

  /** Returns the most recently active visit that is open at `now` and satisfies `fits`. `user` excludes visits of other users. */
  find(rotating: number, user: number | undefined, now: number, fits: (visit: OpenVisit) => boolean): OpenVisit | undefined {
    const { visitor, visitor_kind: kind, rotating: under } = this.#visits.uint32
    const { activeAt } = this.#visits.float64
    const view = new VisitView(this.#visits)
    let best = -1
    const consider = (row: number): boolean => {
      if (!this.#isOpen(row, now)) return false
      view.row = row
      const isBetter = best < 0 || activeAt[row]! > activeAt[best]! || (activeAt[row] === activeAt[best] && row < best)
      if (isBetter && fits(view)) best = row
      return true
    }
    if (user === undefined) this.#all.filter(rotating, consider)
    else {
      this.#unidentified.filter(rotating, (row) => kind[row] !== USER && consider(row))
      for (const row of this.#users.get(user) ?? []) if (under[row] === rotating && visitor[row] === user) consider(row)
    }
    return best < 0 ? undefined : new VisitView(this.#visits, best)
  }

  #isOpen(row: number, now: number): boolean {
    return isOpen(this.#visits, row, now)
  }
}

/** Returns whether a visit is open. Closed visits stay closed. An arrival far in the future comes from a clock that was wrong then. */
export function isOpen({ uint32, float64 }: Visits, row: number, now: number): boolean {
  const { sealing, eventCount } = uint32
  return sealing[row] === 0 && eventCount[row]! < VISIT_EVENTS && Math.abs(now - float64.arrivedAt[row]!) <= VISIT_IDLE_MS
}

/** Linked lists of rows by key, latest row first. */
class RowChains {
  /** Links are a row + 1; 0 is the end of a list. */
  readonly #heads = new NumberMap()
  readonly #before = new GrowingUint32()

  add(key: number, row: number): void {
    while (this.#before.length < row) this.#before.push(0)
    this.#before.push(this.#heads.get(key))
    this.#heads.set(key, row + 1)
  }

  /** Visits the rows of a key and removes those for which `stays` returns false, so that later calls skip them. */
  filter(key: number, stays: (row: number) => boolean): void {
    let later = 0
    for (let link = this.#heads.get(key); link !== 0; ) {
      const before = this.#before.at(link - 1)
      if (stays(link - 1)) later = link
      else if (later === 0) this.#heads.set(key, before)
      else this.#before.put(later - 1, before)
      link = before
    }
  }
}

/** A view of one visit that can be moved to another row, so that a search allocates a single object. */
export class VisitView implements OpenVisit {
  constructor(
    readonly visits: Visits,
    public row = 0,
  ) {}

  get id() {
    return this.visits.float64.id[this.row]!
  }
  get startedAt() {
    return this.visits.float64.start[this.row]!
  }
  get activeAt() {
    return this.visits.float64.activeAt[this.row]!
  }
  get arrivedAt() {
    return this.visits.float64.arrivedAt[this.row]!
  }
  get size() {
    return this.visits.uint32.eventCount[this.row]!
  }
  get visitor() {
    return this.visits.uint32.visitor[this.row]!
  }
  get visitorKind() {
    return VISITOR_KINDS[this.visits.uint32.visitor_kind[this.row]!]!
  }
}
