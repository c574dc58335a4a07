import { join } from "node:path"
import type { LineCoverage } from "../../source.ts"
import { type Coverage, coverageReader, coveredTo } from "../../sources/server-log/coverage.ts"
import { waitingSince } from "../../sources/server-log/open-visits.ts"
import { dayOfVisitor, type StreamResult, type StreamTask, visitorPrefix, WAITING_FILE } from "../../streams/stream-task.ts"
import { LineWriter, linesOf } from "../files.ts"
import type { StageTask } from "../task.ts"
import type { SortedEvent } from "./visits.ts"

/** The part of staging that only streams have: covered lines, salts by day, and visits that are still open. */
export class StreamStage {
  readonly coverage: LineCoverage
  /** Rows that have waited since earlier runs. */
  waited = 0
  /** Rows that wait for the next run. */
  waiting = 0
  readonly #task: StreamTask
  readonly #runSalt: string
  readonly #folder: string
  readonly #isStaged: boolean
  readonly #lines: ReturnType<typeof coverageReader>
  readonly #salts = new Map<string, string>()
  readonly #days = new Set<string>()
  #after: Coverage | undefined
  #writer: LineWriter | undefined
  #since: number | null = null

  constructor(task: StreamTask, { salt, folder, do: what }: Pick<StageTask, "salt" | "folder" | "do">) {
    this.#task = task
    this.#runSalt = salt
    this.#folder = folder
    this.#isStaged = what === "stage"
    this.#lines = coverageReader(task.coverage, Buffer.from(task.key, "hex"))
    this.coverage = this.#lines
  }

  /** Returns the name of a visitor: the same in all runs that have the salt of the day. */
  visitorOf(name: string, day: string): string {
    return visitorPrefix(day) + hashed(this.#saltOf(day), name)
  }

  /** A sort that is repeated after an interruption derives the same salts. The salt of the run is destroyed at its end. */
  #saltOf(day: string): string {
    let salt = this.#salts.get(day)
    if (salt === undefined) {
      salt = this.#task.salts[day] ?? new Bun.CryptoHasher("sha256", this.#runSalt).update(`salt ${day}`).digest("hex")
      this.#salts.set(day, salt)
    }
    return salt
  }

  /** Yields the rows that have waited. */
  *waitedRows(): Generator<SortedEvent> {
    if (this.#task.waiting === undefined) return
    for (const line of linesOf(this.#task.waiting)) {
      this.waited++
      yield JSON.parse(line) as SortedEvent // written by `holds`
    }
  }

  /** Returns whether a visit may go on. Its rows then wait for the next run. Call it once all files are read. */
  holds(visit: readonly SortedEvent[]): boolean {
    this.#after ??= this.#lines.finish()
    const readTo = coveredTo(this.#after) ?? Number.NEGATIVE_INFINITY
    const since = waitingSince(visit, { lastAt: visit.at(-1)!.at, readTo, now: this.#task.now }) // a visit has an event
    if (since === undefined) {
      this.#days.add(dayOfVisitor(visit[0]!.visitor))
      return false
    }
    this.waiting += visit.length
    this.#since = Math.min(this.#since ?? since, since)
    if (!this.#isStaged) return true
    this.#writer ??= new LineWriter(join(this.#folder, WAITING_FILE))
    for (const event of visit) this.#writer.write(JSON.stringify({ ...event, since }))
    return true
  }

  /** Ends the staging. */
  result(): StreamResult {
    this.#writer?.close()
    return {
      coverage: this.#after ?? this.#lines.finish(),
      salts: Object.fromEntries(this.#salts),
      days: [...this.#days],
      waiting: { rows: this.waiting, since: this.#since },
    }
  }
}

/** Returns the keyed hash of a visitor's name, 16 bytes in hex. */
export const hashed = (salt: string, name: string): string => new Bun.CryptoHasher("sha256", salt).update(name).digest("hex").slice(0, 32)
