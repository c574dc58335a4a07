import { VISIT_EVENTS, VISIT_IDLE_MS, VISITOR_KINDS } from "../../domain/visit.ts"
import { type GrowingFloat64, GrowingUint32 } from "./growing.ts"
import { NumberMap } from "./number-map.ts"
import type { OpenVisit } from "./writer.ts"

/** What of a tail's visits their openness is judged by. By visit row. */
interface VisitColumns {
  ids: GrowingFloat64
  rotating: GrowingUint32
  visitor: GrowingUint32
  kind: GrowingUint32
  starts: GrowingFloat64
  activeAt: GrowingFloat64
  arrivedAt: GrowingFloat64
  sizes: GrowingUint32
  /** 1 for a visit that is being sealed. */
  sealing: GrowingUint32
}

const USER = VISITOR_KINDS.indexOf("user")

/**
 * Finds a visitor's open visits. Many people may be behind one rotating id (a server that names only users), so the visits
 * of a user are found without looking at those of all others. Only the writer asks, so a reader never has one of these.
 */
export class VisitIndex {
  readonly #columns: VisitColumns
  readonly #all = new RowChains()
  /** Visits of no user when they were opened. */
  readonly #unnamed = new RowChains()
  readonly #users = new Map<number, number[]>()

  constructor(columns: VisitColumns) {
    this.#columns = columns
    for (let row = 0; row < columns.ids.length; row++) this.add(row)
  }

  add(row: number): void {
    const rotating = this.#columns.rotating.at(row)
    this.#all.add(rotating, row)
    if (this.#columns.kind.at(row) === USER) this.named(row)
    else this.#unnamed.add(rotating, row)
  }

  /** The visit has become that of a user. */
  named(row: number): void {
    const user = this.#columns.visitor.at(row)
    const rows = this.#users.get(user)
    if (rows) rows.push(row)
    else this.#users.set(user, [row])
  }

  /** The most recently active visit that is open at `now` and fits; of several the first. With `user`, no other user's. */
  find(rotating: number, user: number | undefined, now: number, fits: (visit: OpenVisit) => boolean): OpenVisit | undefined {
    const { activeAt, visitor, kind, rotating: under } = this.#columns
    const view = new VisitView(this.#columns)
    let best = -1
    const look = (row: number): boolean => {
      if (!this.#isOpen(row, now)) return false
      view.row = row
      const isBetter = best < 0 || activeAt.at(row) > activeAt.at(best) || (activeAt.at(row) === activeAt.at(best) && row < best)
      if (isBetter && fits(view)) best = row
      return true
    }
    if (user === undefined) this.#all.walk(rotating, look)
    else {
      this.#unnamed.walk(rotating, (row) => kind.at(row) !== USER && look(row))
      for (const row of this.#users.get(user) ?? []) if (under.at(row) === rotating && visitor.at(row) === user) look(row)
    }
    return best < 0 ? undefined : new VisitView(this.#columns, best)
  }

  /** Once closed, a visit stays closed. An arrival far in the future is that of a clock that was wrong then. */
  #isOpen(row: number, now: number): boolean {
    const { sealing, sizes, arrivedAt } = this.#columns
    return sealing.at(row) === 0 && sizes.at(row) < VISIT_EVENTS && Math.abs(now - arrivedAt.at(row)) <= VISIT_IDLE_MS
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
    readonly columns: VisitColumns,
    public row = 0,
  ) {}

  get id() {
    return this.columns.ids.at(this.row)
  }
  get startedAt() {
    return this.columns.starts.at(this.row)
  }
  get activeAt() {
    return this.columns.activeAt.at(this.row)
  }
  get arrivedAt() {
    return this.columns.arrivedAt.at(this.row)
  }
  get size() {
    return this.columns.sizes.at(this.row)
  }
  get visitor() {
    return this.columns.visitor.at(this.row)
  }
  get visitorKind() {
    return VISITOR_KINDS[this.columns.kind.at(this.row)]!
  }
}
