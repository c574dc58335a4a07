import type { Reject } from "../../rows.ts"
import type { RejectCode, Sink, SkipReason } from "../../source.ts"
import type { DefinitionKind, Staged } from "../task.ts"

const SAMPLE_ROWS = 20
const EXCERPT_CHARS = 200
const EVENT_NAMES = 50
const MAX_WARNINGS = 100
/** A site has room for fewer of each kind. */
const MAX_DEFINITIONS = 1_000

/** What is found while the files of an import are read, in addition to their rows. */
export class Findings implements Omit<Sink, "event" | "totals" | "refund" | "check"> {
  readonly rows = { read: 0, rejected: 0, skipped: 0 }
  readonly #maxRejects: number
  readonly #rejects: Reject[] = []
  readonly #skips = new Map<string, number>()
  readonly #warnings = new Map<string, Staged["warnings"][number]>()
  readonly #unsupported = new Set<string>()
  readonly #choices: Staged["choices"] = {}
  readonly #definitions: Staged["definitions"] = {}
  readonly #sample: object[] = []
  readonly #eventNames = new Set<string>()
  readonly #rowsOfFiles = new Map<string, number>()
  readonly #revenue = new Map<string, number>()
  #mapping: object | undefined
  #skippedLine = ""

  constructor(maxRejects: number) {
    this.#maxRejects = maxRejects
  }

  read(rows: number): void {
    this.rows.read += rows
  }
  reject(file: string, line: number, code: RejectCode, excerpt: string): void {
    this.rows.rejected++
    if (this.#rejects.length < this.#maxRejects) this.#rejects.push({ file, line, code, excerpt: excerptOf(excerpt) })
  }
  skip(reason: SkipReason, rows = 1): void {
    // Invalid revenue is dropped from its row, which is imported.
    if (reason !== "revenue_invalid") this.rows.skipped += rows
    this.addSkip(reason, rows)
  }
  warn(code: string, message: string, file?: string): void {
    const key = `${code} ${file ?? ""} ${message}`
    if (this.#warnings.size < MAX_WARNINGS) this.#warnings.set(key, { code, message, ...(file !== undefined && { file }) })
  }
  unsupported(what: string): void {
    this.#unsupported.add(what)
  }
  choices(name: string, choices: readonly { id: string; rows: number }[]): void {
    this.#choices[name] = choices
  }
  mapping(mapping: object): void {
    this.#mapping = mapping
  }
  definitions(kind: DefinitionKind, items: readonly object[]): void {
    this.#definitions[kind] = [...(this.#definitions[kind] ?? []), ...items].slice(0, MAX_DEFINITIONS)
  }

  addSkip(reason: string, rows: number): void {
    this.#skips.set(reason, (this.#skips.get(reason) ?? 0) + rows)
  }
  /** Skips a line once, even if it holds several rows of totals. */
  skipLine(reason: string, file: string, line: number): void {
    const key = `${file}:${line}`
    if (key === this.#skippedLine) return
    this.#skippedLine = key
    this.rows.skipped++
    this.addSkip(reason, 1)
  }
  addSample(row: () => object): void {
    if (this.#sample.length < SAMPLE_ROWS) this.#sample.push(row())
  }
  addEventName(name: string): void {
    if (this.#eventNames.size < EVENT_NAMES) this.#eventNames.add(name)
  }
  addRevenue(revenue: string): void {
    const [amount, currency] = revenue.split(" ") as [string, string] // written by `sortedEvent`
    this.#revenue.set(currency, (this.#revenue.get(currency) ?? 0) + Number(amount))
  }
  countRow(file: string, rows = 1): void {
    this.#rowsOfFiles.set(file, this.rowsOf(file) + rows)
  }

  rowsOf(file: string): number {
    return this.#rowsOfFiles.get(file) ?? 0
  }
  revenue(): Staged["totals"]["revenue"] {
    return [...this.#revenue].sort(byKey).map(([currency, amount_minor]) => ({ currency, amount_minor }))
  }
  found() {
    return {
      skipReasons: Object.fromEntries([...this.#skips].sort(byKey)),
      rejects: this.#rejects,
      sample: this.#sample,
      unsupported: [...this.#unsupported].sort(),
      warnings: [...this.#warnings.values()],
      choices: this.#choices,
      ...(this.#mapping && { mapping: this.#mapping }),
      definitions: this.#definitions,
      eventNames: [...this.#eventNames],
    }
  }
}

/** Orders entries by their key. */
export const byKey = (a: readonly [string, unknown], b: readonly [string, unknown]): number => (a[0] < b[0] ? -1 : 1)

const ADDRESSES = /\b\d{1,3}(?:\.\d{1,3}){3}\b|\b[0-9a-f]{0,4}(?::[0-9a-f]{0,4}){3,7}\b/gi

/** Returns the faulty value as it is shown: short, on one line, without addresses. */
const excerptOf = (value: string): string =>
  value
    .replace(ADDRESSES, "…")
    // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are not shown
    .replace(/[\u0000-\u001f\u007f]+/g, " ")
    .slice(0, EXCERPT_CHARS)
