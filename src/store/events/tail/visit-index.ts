import { VISIT_EVENTS, VISIT_IDLE_MS, VISITOR_KINDS } from "../../../domain/visit.ts"
import type { OpenVisit } from "../writer.ts"
import { type GrowingRows, GrowingUint32 } from "./growing.ts"
import { NumberMap } from "./number-map.ts"

/** What of a tail's visits their openness is judged by. By visit row. */
type Visits = GrowingRows<"rotating" | "visitor" | "visitor_kind" | "eventCount" | "sealing", "id" | "start" | "activeAt" | "arrivedAt">

const USER = VISITOR_KINDS.indexOf("user")

/**
 * Finds a visitor's open visits. Many people may be behind one rotating id (a server that names only users), so the visits
 * of a user are found without looking at those of all others. Only the writer asks, so a reader never has one of these.
 */
export class VisitIndex {
  readonly #visits: Visits
  readonly #all = new RowChains()
  /** Visits of no user when they were opened. */
  readonly #unnamed = new RowChains()
  readonly #users = new Map<number, number[]>()

  constructor(visits: Visits) {
    this.#visits = visits
    for (let row = 0; row < visits.length; row++) this.add(row)
  }

  add(row: number): void {
    const { rotating: under, visitor_kind } = this.#visits.uint32
    const rotating = under[row]!
    this.#all.add(rotating, row)
    if (visitor_kind[row] === USER) this.named(row)
    else this.#unnamed.add(rotating, row)
  }

  /** The visit has become that of a user. */
  named(row: number): void {
    const user = this.#visits.uint32.visitor[row]!
    const rows = this.#users.get(user)
    if (rows) rows.push(row)
    else this.#users.set(user, [row])
  }

  /** The most recently active visit that is open at `now` and fits; of several the first. With `user`, no other user's. */
  find(rotating: number, user: number | undefined, now: number, fits: (visit: OpenVisit) => boolean): OpenVisit | undefined {
    const { visitor, visitor_kind: kind, rotating: under } = this.#visits.uint32
    const { activeAt } = this.#visits.float64
    const view = new VisitView(this.#visits)
    let best = -1
    const look = (row: number): boolean => {
      if (!this.#isOpen(row, now)) return false
      view.row = row
      const isBetter = best < 0 || activeAt[row]! > activeAt[best]! || (activeAt[row] === activeAt[best] && row < best)
      if (isBetter && fits(view)) best = row
      return true
    }
    if (user === undefined) this.#all.walk(rotating, look)
    else {
      this.#unnamed.walk(rotating, (row) => kind[row] !== USER && look(row))
      for (const row of this.#users.get(user) ?? []) if (under[row] === rotating && visitor[row] === user) look(row)
    }
    return best < 0 ? undefined : new VisitView(this.#visits, best)
  }

  /** Once closed, a visit stays closed. An arrival far in the future is that of a clock that was wrong then. */
  #isOpen(row: number, now: number): boolean {
    const { sealing, eventCount } = this.#visits.uint32
    const { arrivedAt } = this.#visits.float64
    return sealing[row] === 0 && eventCount[row]! < VISIT_EVENTS && Math.abs(now - arrivedAt[row]!) <= VISIT_IDLE_MS
  }
}

/** Rows by key, the latest first, as links from each row to the one before it. */
class RowChains {
  /** Row + 1; 0 is the end. */
  readonly #heads = new NumberMap()
  readonly #before = new GrowingUint32()

  add(key: number, row: number): void {
    while (this.#before.length < row) this.#before.push(0)
    this.#before.push(this.#heads.get(key))
    this.#heads.set(key, row + 1)
  }

  /** Takes out the rows for which `stays` does not hold: nobody has to look at them again. */
  walk(key: number, stays: (row: number) => boolean): void {
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

/** One visit after the other through the same eyes. */
class VisitView implements OpenVisit {
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
