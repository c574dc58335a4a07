import type { EnrichedEvent, ImportedKind, ImportedRow } from "#plugin"
import { type createEnrichment, unmapProgramPages } from "#plugin/worker"
import type { DaySkip } from "../../days.ts"
import type { Sink, SkipReason, SourceEvent, SourceRefund } from "../../source.ts"
import { type StagedRefund, StagedRefunds, stagedRefund } from "../refunds.ts"
import { MAX_REJECTS, PREVIEW_REJECTS, type ReadableOptions, type StageTask } from "../task.ts"
import { StagedTotals } from "../totals.ts"
import { StagedDays } from "./days.ts"
import { Findings } from "./findings.ts"
import { Garbage, LIGHT_ROW } from "./garbage.ts"
import { StreamStage } from "./stream-stage.ts"
import { VisitStage } from "./visit-stage.ts"
import { type SortedEvent, sortedEvent } from "./visits.ts"

/** Maximum number of remembered visitors. */
const MAX_VISITORS = 10_000

type Enrich = ReturnType<typeof createEnrichment>

/** Takes the rows of a source: filters and enriches them, and hands events, totals and refunds to their stages. */
export class RowStage extends Findings implements Sink {
  readonly check: Sink["check"]
  readonly days: StagedDays
  readonly totalsStage: StagedTotals
  readonly refunds: StagedRefunds
  readonly stream: StreamStage | undefined
  readonly visits: VisitStage
  /** Number of events that were taken. */
  eventCount = 0
  readonly #task: StageTask
  readonly #options: ReadableOptions
  readonly #garbage = new Garbage()
  readonly #hasher: Bun.CryptoHasher
  readonly #visitors = new Map<string, string>()
  readonly #hosts: ReadonlySet<string> | undefined
  readonly #tables: ReadonlySet<string> | undefined
  #enrich: Enrich | undefined

  /** `check` throws when the reading is to end. */
  constructor(task: StageTask, enrich: Enrich, check: Sink["check"]) {
    super(task.do === "preview" ? PREVIEW_REJECTS : MAX_REJECTS)
    this.#task = task
    this.#options = task.options as ReadableOptions // validated on the main thread
    this.#enrich = enrich
    this.check = check
    this.days = new StagedDays(task.rules, task.site.timezone)
    const folder = task.do === "stage" ? task.folder : undefined
    this.totalsStage = new StagedTotals(folder)
    this.refunds = new StagedRefunds(folder)
    this.stream = task.stream && new StreamStage(task.stream, task)
    this.visits = new VisitStage(task, { days: this.days, findings: this, garbage: this.#garbage, stream: this.stream })
    this.#hasher = new Bun.CryptoHasher("sha256", task.salt)
    const { hostnames, tables } = this.#options
    this.#hosts = hostnames && new Set(hostnames.map((host) => host.toLowerCase()))
    this.#tables = tables && new Set(tables)
  }

  event(given: SourceEvent): void {
    this.#garbage.add(1)
    const { sender } = given
    const enriched = this.#enrich!(sender ? { ...given, address: sender.address, userAgent: sender.userAgent } : given) // until `end`
    if (enriched === "bad_url") {
      this.reject(given.file, given.line, "bad_url", given.hostname ?? hostIn(given.url ?? ""))
      return
    }
    const { event, isBot } = enriched
    const day = this.days.of(event.at)
    if (isBot || this.#isForeign(event.hostname) || !this.#isWanted(day)) {
      this.skip(isBot ? "bot" : "filtered")
      return
    }
    if (enriched.hasInvalidRevenue) this.addSkip("revenue_invalid", 1)
    this.eventCount++
    this.countRow(given.file)
    this.addSample(() => sampleOf(enriched))
    this.visits.add(this.#sortedEvent(given, enriched, day), given.file, given.id)
  }

  #sortedEvent(given: SourceEvent, enriched: EnrichedEvent, day: string): Omit<SortedEvent, "order"> {
    const linked = this.#task.linksUsers && given.userId ? given.userId : ""
    const name = linked === "" ? nameOf(given, day) : `user ${linked}`
    const visitor = this.#visitorOf(name, day)
    const kind = linked === "" ? (given.visitorKind ?? "rotating") : "user"
    return sortedEvent(enriched, { visitor, visit: given.visit ?? "", kind, userId: linked })
  }

  /** Returns the keyed hash of a visitor. Those of recent visitors are remembered: events of a visit stand close together. */
  #visitorOf(name: string, day: string): string {
    const key = this.stream ? `${day} ${name}` : name
    const known = this.#visitors.get(key)
    if (known !== undefined) return known
    const visitor = this.stream?.visitorOf(name, day) ?? this.#hasher.copy().update(name).digest("hex").slice(0, 32)
    if (this.#visitors.size === MAX_VISITORS) this.#visitors.clear()
    this.#visitors.set(key, visitor)
    return visitor
  }

  totals(kind: ImportedKind, row: ImportedRow & { file: string; line: number }): void {
    const { file, line } = row
    this.#garbage.add(LIGHT_ROW)
    if (this.#tables && !this.#tables.has(kind)) return
    if (!this.#isWanted(row.day)) {
      this.skipLine("filtered", file, line)
      return
    }
    this.countRow(file)
    const skip = this.days.add(row.day)
    if (skip) {
      this.skipLine(skip, file, line)
      return
    }
    this.totalsStage.add(kind, row)
    if (kind === "imported_custom_events" && row.texts.name) this.addEventName(row.texts.name)
    this.addSample(() => ({ table: kind, day: row.day, ...(row.hour !== undefined && { hour: row.hour }), ...row.texts, ...row.counts }))
  }

  refund(given: SourceRefund): void {
    this.#garbage.add(LIGHT_ROW)
    const day = this.days.of(given.at)
    const refund = stagedRefund(given)
    const reason = this.#refundSkip(given, refund, day)
    if (reason !== undefined || !refund) {
      this.rows.skipped++
      this.addSkip(reason ?? "revenue_invalid", 1)
      return
    }
    this.countRow(given.file)
    this.refunds.add(refund, given.at)
    this.addRevenue(`${-refund.amount_minor} ${refund.currency}`)
    const revenue = { amount: -refund.amount_minor, currency: refund.currency }
    this.addSample(() => ({ at: refund.occurred_at, name: "refund", props: { order_id: given.order }, revenue }))
  }

  /** Returns why a refund is not imported, if there is a reason. Counts its day, which can be one that is skipped. */
  #refundSkip({ hostname }: SourceRefund, refund: StagedRefund | undefined, day: string): SkipReason | DaySkip | undefined {
    if (!this.#task.takesRefunds) return "not_imported_type"
    if (this.#isForeign(hostname) || !this.#isWanted(day)) return "filtered"
    if (!refund) return "revenue_invalid"
    if (this.refunds.has(refund)) return "repeated_row"
    return this.days.add(day)
  }

  /** Releases what was remembered of the rows, and the parts of the program that read them. Their visits do not need either. */
  async end(): Promise<void> {
    this.#enrich = undefined
    this.#visitors.clear()
    // Merging the sorted chunks makes hardly any garbage, so it would not be collected before the visits.
    Bun.gc(true)
    if (this.#task.do === "stage") await unmapProgramPages()
  }

  #isForeign(hostname: string): boolean {
    return this.#hosts !== undefined && hostname !== "" && !this.#hosts.has(hostname)
  }

  #isWanted(day: string): boolean {
    const { from, to } = this.#options
    return (from === undefined || day >= from) && (to === undefined || day <= to)
  }
}

/** Returns the text by which a visitor is recognized. A row without any has a visitor of its own. */
function nameOf({ visitor, sender, file, line, userId }: SourceEvent, day: string): string {
  if (visitor !== "") return `visitor ${visitor}`
  if (sender) return `sender ${day} ${sender.address} ${sender.userAgent}`
  return userId ? `user ${userId}` : `row ${file}:${line}`
}

/** Returns an event as a preview shows it, with the traits that are known. */
const sampleOf = ({ traits, event }: EnrichedEvent): object => ({
  at: new Date(event.at).toISOString(),
  name: event.name,
  page: event.page,
  hostname: event.hostname,
  ...Object.fromEntries(Object.entries(traits).filter(([, value]) => value !== "")),
  ...(event.props.length > 0 && { props: Object.fromEntries(event.props) }),
  ...(event.revenue && { revenue: event.revenue }),
})

const hostIn = (url: string): string => /^[a-z]+:\/\/([^/?#]*)/i.exec(url)?.[1] ?? ""
