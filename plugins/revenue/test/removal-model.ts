/** A model of orders with several reports, which folds the reports that are left and knows nothing of how transactions are stored. */

/** A sale event of the site. */
export interface Report {
  /** The person, if it can be erased. */
  user: string | undefined
  page: string
  minor: number
  /** 0 of a browser, 1 of the server. */
  trust: number
  at: number
  startedAt: number
  isFromGoogle: boolean
}

/** What a payment provider or a member states about an order. */
interface Statement {
  minor: number
  trust: number
  provider: "stripe" | "manual"
  at: number
}

/** An order that the site itself has seen. */
interface Order {
  minor: number
  trust: number
  provider: "tracker" | "stripe" | "manual"
  at: number
  /** When providers and members say that it occurred. */
  statedAt: number
  /** Its events, in storage order, without those that were removed. */
  reports: Report[]
  /** Whether the person of an event was erased: what the order is then known by stays. */
  isKept: boolean
  /** The event whose visit it has. */
  visit: Report | undefined
}

/** An event of an import. Its visit starts on a day and its order is placed on this day or, after midnight, on the next one. */
export interface ImportedReport {
  day: number
  isAfterMidnight: boolean
  order: string
  minor: number
}

export interface Import {
  id: number
  isEnabled: boolean
  events: readonly ImportedReport[]
}

/** A refund event. */
interface Refund extends Report {
  order: string
  /** Whether it is still that of a visit. */
  isTracked: boolean
}

/** Returns the day of the site, which is in Berlin. */
export const dayOf = (at: number): string =>
  Temporal.Instant.fromEpochMilliseconds(at).toZonedDateTimeISO("Europe/Berlin").toPlainDate().toString()

const OCTOBER = (day: number): string => `2026-10-${String(day).padStart(2, "0")}`

export class RemovalModel {
  readonly orders = new Map<string, Order>()
  refunds: Refund[] = []
  imports: Import[] = []

  report(id: string, report: Report): void {
    const order = this.orders.get(id)
    if (!order) this.orders.set(id, orderOf([report]))
    else add(order, report)
  }

  state(id: string, { at, ...statement }: Statement): void {
    const order = this.orders.get(id)
    if (!order) {
      this.orders.set(id, { ...statement, at, statedAt: at, reports: [], isKept: false, visit: undefined })
      return
    }
    if (statement.trust > order.trust) Object.assign(order, statement)
    order.at = Math.min(order.at, at)
    order.statedAt = Math.min(order.statedAt, at)
  }

  acceptsManual(id: string): boolean {
    return (this.orders.get(id)?.trust ?? 0) === 0
  }

  addImport(one: Import): void {
    this.imports.push(one)
  }

  /** Lets an order be as the events report it that are left, after what a member has stated was deleted. */
  fold(id: string): void {
    const { reports } = this.orders.get(id)!
    if (reports.length === 0) this.orders.delete(id)
    else this.orders.set(id, orderOf(reports))
  }

  people(): (string | undefined)[] {
    const known = [...this.orders.values()].flatMap(({ reports }) => reports.flatMap(({ user }) => user ?? []))
    return known.length === 0 ? [undefined] : known
  }

  erasePerson(user: string): void {
    for (const refund of this.refunds) if (refund.user === user) refund.isTracked = false
    for (const order of this.orders.values()) {
      const left = order.reports.filter((report) => report.user !== user)
      if (left.length === order.reports.length) continue
      Object.assign(order, { reports: left, isKept: true, statedAt: order.at })
      if (order.visit?.user === user) order.visit = undefined
    }
  }

  erasePage(page: string): void {
    this.refunds = this.refunds.filter((refund) => !refund.isTracked || refund.page !== page)
    for (const [id, order] of [...this.orders]) {
      const left = order.reports.filter((report) => report.page !== page)
      if (left.length === order.reports.length) continue
      if (order.provider === "tracker" && !order.isKept) {
        order.reports = left
        this.fold(id)
        continue
      }
      if (order.visit?.page === page && order.reports.includes(order.visit)) order.visit = undefined
      order.reports = left
      order.at = Math.min(order.statedAt, ...left.map(({ at }) => at))
    }
  }

  /** Removes visits and transactions before a time. */
  retain(cutoff: number): void {
    for (const [id, { at }] of [...this.orders]) if (at < cutoff) this.orders.delete(id)
    this.refunds = this.refunds.filter(({ at }) => at >= cutoff)
    for (const refund of this.refunds) if (refund.startedAt < cutoff) refund.isTracked = false
    for (const order of this.orders.values()) order.reports = order.reports.filter(({ startedAt }) => startedAt >= cutoff)
    this.imports = []
  }

  /** Number of the orders that Google is credited with: by visits that started before. */
  credited(): number {
    return [...this.orders.values()].filter(({ at, visit }) => visit?.isFromGoogle && visit.startedAt <= at).length
  }

  /** The transactions that count, as texts in a fixed order. */
  lines(): string[] {
    const own = [...this.orders].map(
      ([id, { at, minor, provider, visit }]) => `${id} ${dayOf(at)} ${minor} ${provider} ${visit?.isFromGoogle ? "Google" : "-"}`,
    )
    const refunds = this.refunds.map(({ order, at, minor }) => `refund ${order} ${dayOf(at)} ${minor}`)
    return [...own, ...this.#imported(), ...refunds].sort()
  }

  /** Orders that only imports report. Imports hold days in the order in which they were completed. */
  #imported(): string[] {
    const holders = new Map<number, number>()
    const shown: ImportedReport[] = []
    for (const { id, isEnabled, events } of this.imports) {
      if (!isEnabled) continue
      for (const { day } of events) if (!holders.has(day)) holders.set(day, id)
      shown.push(...events.filter(({ day }) => holders.get(day) === id))
    }
    return [...Map.groupBy(shown, ({ order }) => order)].flatMap(([order, reports]) => {
      if (this.orders.has(order)) return []
      const day = reports.map((report) => OCTOBER(report.day + (report.isAfterMidnight ? 1 : 0))).sort()[0]
      return [`${order} ${day} ${reports[0]!.minor} import -`]
    })
  }
}

/** Returns the order that some events report. */
function orderOf([first, ...others]: readonly Report[]): Order {
  const { minor, trust, at } = first!
  const order: Order = {
    ...{ minor, trust, at, provider: "tracker", statedAt: Number.POSITIVE_INFINITY },
    ...{ reports: [first!], isKept: false, visit: first },
  }
  for (const report of others) add(order, report)
  return order
}

function add(order: Order, report: Report): void {
  if (report.trust > order.trust) Object.assign(order, { minor: report.minor, trust: report.trust })
  order.at = Math.min(order.at, report.at)
  order.reports.push(report)
  order.visit ??= report
}
