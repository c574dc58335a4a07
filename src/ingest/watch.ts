import type { Candidate } from "./candidate.ts"
import type { DropNote } from "./drop-tally.ts"

/** Somebody who looks at what comes in while it does. Asked for every event, so it must be quick to say that nobody does. */
export interface IngestWatch {
  /** Whether anybody looks at a site. */
  isWatched(siteId: number): boolean
  /** Its event is on disk. */
  stored(candidate: Candidate): void
  dropped(note: DropNote): void
}
