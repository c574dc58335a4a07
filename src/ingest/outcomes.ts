import type { DropReason } from "../domain/event.ts"
import type { Candidate } from "./candidate.ts"
import type { DropNote } from "./drop-tally.ts"
import type { IngestCounts } from "./ingest-counts.ts"
import type { IngestWatch } from "./watch.ts"

/** Why an event that was taken was not stored; undefined when it was. */
export type Outcome = DropReason | undefined

/** Tells those who count, and those who look at a site, what becomes of events. Called for every event. */
export class Outcomes {
  readonly #counts: IngestCounts | undefined
  readonly #watch: IngestWatch | undefined

  constructor(counts: IngestCounts | undefined, watch: IngestWatch | undefined) {
    this.#counts = counts
    this.#watch = watch
  }

  drop(note: DropNote): void {
    this.#counts?.add(note.siteId, note.reason)
    if (this.#watch?.isWatched(note.siteId)) this.#watch.dropped(note)
  }

  /** Of one request, in the order of its events. */
  count(candidates: readonly Candidate[], outcomes: readonly Outcome[]): void {
    for (const [at, reason] of outcomes.entries()) this.#counts?.add(candidates[at]!.siteId, reason ?? "accepted")
  }

  /** The same for whoever looks at the sites. */
  show(candidates: readonly Candidate[], outcomes: readonly Outcome[]): void {
    for (const [at, candidate] of candidates.entries())
      if (outcomes[at] === undefined && this.#watch?.isWatched(candidate.siteId)) this.#watch.stored(candidate)
  }

  /** Those that the queue had no room for, or that the store did not take. */
  refuse(candidates: readonly Candidate[], by: "queue" | "storage"): void {
    for (const { siteId } of candidates) this.#counts?.add(siteId, by === "queue" ? "refused_queue" : "refused_storage")
  }

  /** A commit of events, in milliseconds. */
  took(ms: number): void {
    this.#counts?.took(ms)
  }
}
